package requestid_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/internal/requestid"
)

// ERR-05: a record written with the context of a request has its id, once; other records
// have none.
func TestLogger_ERR05(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	logger := requestid.Logger(requestid.Logger(slog.New(slog.NewTextHandler(&out, nil)))).With("node", 1)
	ctx := requestid.With(t.Context(), "req_1")
	logger.InfoContext(ctx, "one")
	logger.InfoContext(ctx, "two", requestid.Attribute, "req_2")
	logger.InfoContext(t.Context(), "three")
	lines := strings.Split(out.String(), "\n")
	for i, want := range []string{" msg=one node=1 request_id=req_1", " msg=two node=1 request_id=req_2", " msg=three node=1"} {
		if !strings.HasSuffix(lines[i], want) {
			t.Errorf("line %q, want it to end in %q", lines[i], want)
		}
	}
}
