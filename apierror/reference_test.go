package apierror_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/examples/books/ledger"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/oautherror"
)

// reference is the file that partners read. It is written from internal/codes:
//
//	go test ./apierror -run Reference -update
const reference = "../docs/errors.md"

// ERR-01, ERR-03, OERR-01, OERR-02: what is written about errors is what they
// are, and every code is explained.
func TestReferenceIsCurrent_ERR03(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(referenceHead)
	writeCodes(t, &b)
	writePlain(t, &b)
	writeOAuth(t, &b)
	if *update {
		if err := os.WriteFile(reference, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(reference)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("%s is not current; run go test ./apierror -run Reference -update (-file +tables):\n%s", reference, diff)
	}
}

// writeCodes writes the standard codes, area by area.
func writeCodes(t *testing.T, b *strings.Builder) {
	t.Helper()
	declared := map[apierror.Code]apierror.Entry{ledger.InvoiceLimitReached.Code: ledger.InvoiceLimitReached} // the demo's
	for _, entry := range codes.All() {
		declared[entry.Code] = entry
	}
	explained := map[apierror.Code]bool{}
	for _, area := range areas {
		fmt.Fprintf(b, "\n### %s\n\n| code | status | message | when |\n|---|---|---|---|\n", area.title)
		for _, c := range area.causes {
			entry, ok := declared[c.code]
			if !ok || explained[c.code] {
				t.Errorf("%s is not in the table, or is explained twice", c.code)
			}
			explained[c.code] = true
			fmt.Fprintf(b, "| `%s` | %d | %s | %s |\n", entry.Code, entry.Status, cell(entry.Message), c.when)
		}
	}
	for _, entry := range codes.All() {
		if !explained[entry.Code] {
			t.Errorf("no area of reference_causes_test.go says when %s comes", entry.Code)
		}
	}
}

// writePlain writes the errors that have no code, by making each of them.
func writePlain(t *testing.T, b *strings.Builder) {
	t.Helper()
	b.WriteString(referencePlain)
	for _, e := range []struct {
		err  *apierror.Error
		when string
	}{
		{apierror.Invalid("total must be a whole number"), "the request breaks rules. `message` is an array with every problem that was found"},
		{apierror.Unauthorized(), "no credentials, or an access token that is malformed, expired, revoked, or whose app, user, installation or consent no longer stands. `WWW-Authenticate` tells the two apart: `error=\"invalid_token\"` is there only when a token was sent, and `error_description` says why it is not valid: see [Why a token is not valid](partners.md#why-a-token-is-not-valid)"},
		{apierror.Forbidden(""), "not allowed, for a reason that the message gives"},
		{apierror.NotFound("invoice inv_1"), "it does not exist in the business of the token, or at all"},
		{apierror.MethodNotAllowed("GET", "POST"), "the path exists and takes other methods; `Allow` lists them"},
		{apierror.TooLarge(1 << 20), "the body is larger than this path takes"},
		{apierror.UnsupportedMediaType("application/json"), "another content type, a character set that is not UTF-8, or a content encoding"},
		{apierror.TooManyRequests(12 * time.Second), "too many requests from one address that are not an app's; `Retry-After` has the same number"},
		{apierror.Internal(errors.New("hidden")), "an internal error. The log has the same request id, which is in `X-Request-Id` too"},
		{apierror.Unavailable(errors.New("hidden")), "a temporary internal error; try again with the same `Idempotency-Key`"},
	} {
		response := standard(apierror.Writer{}, get(), e.err)
		var body struct{ Message json.RawMessage }
		if err := json.NewDecoder(response.Body).Decode(&body); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(b, "| %s | `%s` | %s |\n", response.Status, cell(requestIDs.ReplaceAllString(string(body.Message), "req_…")), e.when)
	}
}

// writeOAuth writes the codes of the other shape.
func writeOAuth(t *testing.T, b *strings.Builder) {
	t.Helper()
	b.WriteString(referenceOAuth)
	explained := map[oautherror.Code]bool{}
	for _, c := range oauthCauses {
		explained[c.code] = true
		fmt.Fprintf(b, "| `%s` | %d | %s |\n", c.code, oautherror.New(c.code, "").Status, c.when)
	}
	for code := range oauthCodes {
		if !explained[code] {
			t.Errorf("oauthCauses does not say when %s comes", code)
		}
	}
	b.WriteString(referenceGrants)
	for _, c := range grantCauses {
		reason := "(absent)"
		if text := oautherror.Grant(c.reason).Description; text != "" {
			reason = "`" + text + "`"
		}
		fmt.Fprintf(b, "| %s | %s |\n", reason, c.when)
	}
}

// cell is text in a table of Markdown.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
