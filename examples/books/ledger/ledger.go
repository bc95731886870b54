package ledger

import (
	"context"
	_ "embed" // for the tables
	"errors"
	"fmt"
	"strings"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

//go:embed tables.sql
var tables string

// Config of a [Ledger]. All of it is required.
type Config struct {
	Store  *sqlstore.Store
	Events *events.Log // in whose catalog the events of the records are
	Plans  Plans
	Clock  clock.Clock
}

// Ledger is the records of all businesses. It is safe for concurrent use, and does
// nothing that no request asks for.
type Ledger struct{ cfg Config }

// New checks the configuration. The tables must be there: see [CreateTables].
func New(cfg Config) (*Ledger, error) {
	if cfg.Store == nil || cfg.Events == nil || cfg.Plans == nil || cfg.Clock == nil {
		return nil, errors.New("ledger: Config needs Store, Events, Plans and Clock")
	}
	return &Ledger{cfg}, nil
}

// CreateTables creates the tables that are missing.
func CreateTables(ctx context.Context, tx storage.Tx) error {
	for statement := range strings.SplitSeq(tables, ";") {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		if _, err := tx.Exec(ctx, statement); err != nil {
			return fmt.Errorf("ledger: create tables: %w", err)
		}
	}
	return nil
}
