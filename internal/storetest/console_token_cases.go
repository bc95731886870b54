package storetest

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

func newConsoleToken(organizationID string, at time.Time) consolestore.Token {
	return consolestore.Token{
		ID: id.New(id.ConsoleToken, at), Digest: secret.New(secret.ConsoleToken).Digest(), OrganizationID: organizationID,
		UserID: "usr_1", Name: "ci", CreatedAt: at, ExpiresAt: at.Add(time.Hour),
	}
}

// consoleTokenCases are the console tokens. CON-09.
var consoleTokenCases = []testCase[partnerkit.Store]{
	{"CON-09 A console token comes back as it was created", func(t *testing.T, e partnerkit.Store) {
		token, other := newConsoleToken("org_1", noon), newConsoleToken("org_2", noon)
		must(t, e.CreateConsoleToken(t.Context(), token, 2))
		must(t, e.CreateConsoleToken(t.Context(), other, 2))
		if diff := cmp.Diff(token, get[consolestore.Token](t)(e.ConsoleToken(t.Context(), token.Digest))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if diff := cmp.Diff([]consolestore.Token{token}, get[[]consolestore.Token](t)(e.ConsoleTokens(t.Context(), "org_1"))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if _, err := e.ConsoleToken(t.Context(), secret.New(secret.ConsoleToken).Digest()); !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("another digest: %v", err)
		}
	}},
	{"CON-09 A console token is revoked once, by its organization", func(t *testing.T, e partnerkit.Store) {
		token := newConsoleToken("org_1", noon)
		must(t, e.CreateConsoleToken(t.Context(), token, 2))
		if _, err := e.RevokeConsoleToken(t.Context(), "org_2", token.ID, noon); !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("by another organization: %v", err)
		}
		if name := get[string](t)(e.RevokeConsoleToken(t.Context(), "org_1", token.ID, noon.Add(time.Minute))); name != "ci" {
			t.Errorf("name %q", name)
		}
		if _, err := e.RevokeConsoleToken(t.Context(), "org_1", token.ID, noon); !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("again: %v", err)
		}
		if got := get[consolestore.Token](t)(e.ConsoleToken(t.Context(), token.Digest)); !got.RevokedAt.Equal(noon.Add(time.Minute)) {
			t.Errorf("revoked at %v", got.RevokedAt)
		}
		if got := get[[]consolestore.Token](t)(e.ConsoleTokens(t.Context(), "org_1")); len(got) != 0 {
			t.Errorf("still listed: %v", got)
		}
	}},
	{"CON-09 Valid console tokens are bounded, also in a race", func(t *testing.T, e partnerkit.Store) {
		expired := newConsoleToken("org_1", noon.Add(-2*time.Hour))
		must(t, e.CreateConsoleToken(t.Context(), expired, 1))
		revoked := newConsoleToken("org_1", noon)
		must(t, e.CreateConsoleToken(t.Context(), revoked, 1))
		get[string](t)(e.RevokeConsoleToken(t.Context(), "org_1", revoked.ID, noon))
		var created atomic.Int64
		testdb.Race(6, func(int) {
			switch err := e.CreateConsoleToken(t.Context(), newConsoleToken("org_1", noon), 2); {
			case err == nil:
				created.Add(1)
			case !errors.Is(err, consolestore.ErrTooManyTokens):
				t.Error(err)
			}
		})
		if created.Load() != 2 {
			t.Errorf("%d tokens were created, want 2", created.Load())
		}
	}},
	{"CON-09 Console tokens are purged once the longest lifetime is long over", func(t *testing.T, e partnerkit.Store) {
		old, kept := newConsoleToken("org_1", noon), newConsoleToken("org_1", noon.Add(48*time.Hour))
		must(t, e.CreateConsoleToken(t.Context(), old, 9))
		must(t, e.CreateConsoleToken(t.Context(), kept, 9))
		get[int](t)(e.Purge(t.Context(), storage.Purge{Kind: storage.PurgeOAuth, Before: noon.AddDate(0, 0, 396), Limit: 10}))
		if diff := cmp.Diff([]consolestore.Token{kept}, get[[]consolestore.Token](t)(e.ConsoleTokens(t.Context(), "org_1"))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}},
	{"OPS-04 Console tokens of an erased user are revoked and lose the id", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		token := newConsoleToken("org_1", noon)
		token.UserID = f.user
		must(t, e.CreateConsoleToken(t.Context(), token, 9))
		f.erase(t)
		if got := get[consolestore.Token](t)(e.ConsoleToken(t.Context(), token.Digest)); got.UserID != partner.ErasedUser || got.RevokedAt.IsZero() {
			t.Errorf("%+v", got)
		}
	}},
}
