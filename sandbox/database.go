package sandbox

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/partnerkit/partnerkit/ratelimit"
	"github.com/partnerkit/partnerkit/storage/sqlite"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// openStore opens what -db names.
func (p Program) openStore(ctx context.Context, db string, log *slog.Logger) (*sqlstore.Store, error) {
	if scheme(db) != "" {
		return p.OpenStore(ctx, db, log)
	}
	return sqlite.Open(ctx, sqlite.Config{Path: db, Logger: log})
}

// checkDatabase reports the URL of a database that the program has no driver for. The error
// does not repeat the URL, which may have a password.
func (p Program) checkDatabase(db string) error {
	if kind := scheme(db); kind != "" && p.OpenStore == nil {
		return usage(fmt.Errorf("-db %s://: this program has no driver for that database; name an SQLite file, or %s", kind, sqlite.Memory))
	}
	return nil
}

// scheme returns the scheme of a URL; empty for a file.
func scheme(db string) string {
	before, _, ok := strings.Cut(db, "://")
	if !ok || before == "file" {
		return ""
	}
	return before
}

// openLimiter opens the program's limiter, or one in memory.
func (s *server) openLimiter(ctx context.Context) (limiter ratelimit.Limiter, closer io.Closer, err error) {
	if open := s.program.OpenLimiter; open != nil {
		if limiter, closer, err = open(ctx, s.log, s.metrics.library); limiter != nil || err != nil {
			return limiter, closer, err
		}
	}
	limiter, err = ratelimit.NewMemory(ratelimit.MemoryConfig{})
	return limiter, io.NopCloser(nil), err
}
