package appdata

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/storage"
)

// Config of a [Service]. Store and Records are required; the zero value of everything
// else is its default.
type Config struct {
	Store   valuestore.Store
	Records Records
	// Types are the types of records that take values, each with the scope that
	// an app needs to read such a record; nil means [DefaultTypes].
	Types map[string]string
	// Respond decides the response of a write in its transaction: idempotency.Respond, where
	// a guard with idempotency serves the handlers. It then sends the response, too.
	// nil: the handlers respond after the commit.
	Respond func(ctx context.Context, tx storage.Tx, status int, body any) error

	Clock  clock.Clock  // nil: the real time
	Logger *slog.Logger // nil: discards
}

// DefaultTypes returns the records of an accounting service, with their read scopes.
func DefaultTypes() map[string]string {
	return map[string]string{
		"invoice": "invoices:read", "customer": "customers:read", "payment": "payments:read",
		"account": "accounts:read", "journal_entry": "journal:read", "supplier": "suppliers:read",
	}
}

// Service is the fields of all apps and the values that they have attached to records.
// It is safe for concurrent use.
type Service struct {
	cfg       Config
	typeNames string // for messages
}

// New checks the configuration and returns a service. It starts nothing: [Service.Run]
// deletes the values that have ended.
func New(cfg Config) (*Service, error) {
	switch {
	case cfg.Store == nil:
		return nil, errors.New("appdata: Config.Store is nil")
	case cfg.Records == nil:
		return nil, errors.New("appdata: Config.Records is nil; it finds the host's records")
	}
	if cfg.Types == nil {
		cfg.Types = DefaultTypes()
	}
	cfg.Types = maps.Clone(cfg.Types)
	for name, scope := range cfg.Types {
		if err := checkType(name, scope); err != nil {
			return nil, fmt.Errorf("appdata: Config.Types: %q: %w", name, err)
		}
	}
	cfg.Clock = clock.From(cfg.Clock)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Service{cfg: cfg, typeNames: strings.Join(slices.Sorted(maps.Keys(cfg.Types)), ", ")}, nil
}

// Types returns the types of records that take values, each with the scope that reads it.
func (s *Service) Types() map[string]string { return maps.Clone(s.cfg.Types) }

var validType = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

func checkType(name, scope string) error {
	if !validType.MatchString(name) {
		return errors.New("a type is a lower-case word of at most 64 characters")
	}
	if _, err := identity.NewScopes(scope); err != nil {
		return errors.New("it needs exactly one scope")
	}
	return nil
}

// now returns the time as precisely as the store keeps it.
func (s *Service) now() time.Time { return s.cfg.Clock.Now().Truncate(time.Millisecond) }
