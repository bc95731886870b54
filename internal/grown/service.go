package grown

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // the driver named "sqlite"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/postgres"
	"github.com/partnerkit/partnerkit/storage/sqlite"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
	"github.com/partnerkit/partnerkit/webhooks"
)

const (
	appCount     = 20
	webhookCount = 40
	redirectURI  = "https://app.example.com/callback"
)

var (
	scopes = identity.MustScopes("customers:read", "events:read", "invoices:read", "invoices:write")
	types  = []string{"invoice.created", "invoice.paid", "customer.created", "customer.updated"} // of events
)

// app is one of those that everything belongs to.
type app struct {
	id, client, secret string
	fields             [2]string
}

// token is one of a row, with what it takes to present it.
type token struct {
	row             int
	access, refresh string
}

// Service is the platform on such a database. Its methods are for one goroutine.
type Service struct {
	rows
	Store    *sqlstore.Store
	Platform *partnerkit.Platform
	db       storage.DB
	File     string // of SQLite
	tokens   []token
	next     atomic.Int64 // counts what was done, to do it elsewhere the next time
	stop     []func() error
}

// Wrap puts something between a store and its database.
type Wrap func(storage.DB) storage.DB

// OnSQLite makes one of n rows, none or a multiple of 1000, in a file of a directory.
func OnSQLite(ctx context.Context, dir string, n int, wrap Wrap) (*Service, error) {
	file := filepath.Join(dir, fmt.Sprintf("%d.db", n))
	s := &Service{rows: rows{n: n}, File: file}
	reopen := func() (err error) {
		db, err := sqlite.OpenDB(ctx, sqlite.Config{Path: file})
		if err != nil {
			return err
		}
		return s.on(ctx, wrap(db), sqlstore.Config{})
	}
	if err := reopen(); err != nil {
		return nil, err
	}
	err := s.found(ctx)
	if err := errors.Join(err, s.Store.Close()); err != nil {
		return nil, err
	}
	raw, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		return nil, err
	}
	err = s.grow(ctx, raw, onSQLite)
	if err := errors.Join(err, raw.Close(), flush(file)); err != nil {
		return nil, err
	}
	s.stop = []func() error{func() error { return s.Store.Close() }}
	return s, reopen()
}

// flush syncs a file to the disk, so that the writes do not happen during a measurement.
func flush(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// OnPostgres makes one in a schema of a server, which Close drops.
func OnPostgres(ctx context.Context, url, schema string, n int, wrap Wrap) (*Service, error) {
	s := &Service{rows: rows{n: n}}
	db, err := postgres.OpenDB(ctx, url, postgres.Config{Schema: schema})
	if err != nil {
		return nil, err
	}
	raw, err := sql.Open("pgx", url)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s.stop = []func() error{db.Close, func() error {
		_, err := raw.ExecContext(context.Background(), `DROP SCHEMA IF EXISTS "`+schema+`" CASCADE`)
		return errors.Join(err, raw.Close())
	}}
	if err := s.on(ctx, wrap(db), sqlstore.Config{}); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.found(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.grow(ctx, raw, onPostgres(schema)); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	_, _ = raw.ExecContext(ctx, "CHECKPOINT") // as flush; where we may not, the server does it at its own time
	return s, nil
}

// Close ends it.
func (s *Service) Close() error {
	var err error
	for _, stop := range s.stop {
		err = errors.Join(err, stop())
	}
	return err
}

// on puts the platform on a database.
func (s *Service) on(ctx context.Context, db storage.DB, cfg sqlstore.Config) (err error) {
	s.db = db
	if s.Store, err = sqlstore.New(ctx, db, cfg); err != nil {
		return errors.Join(err, db.Close())
	}
	limiter, err := fixture.NewUnreached()
	if err != nil {
		return err
	}
	s.Platform, err = partnerkit.New(partnerkit.Config{
		Store: s.Store, Host: fixture.OpenHost{}, Keyring: fixture.Keyring(0), Records: records{}, Limiter: limiter,
		APIURL: "https://api.example.com", AppURL: "https://app.example.net",
		Routes: []guard.Route{
			{Pattern: "GET /invoices", Scope: "invoices:read", Handler: nothing},
			{Pattern: "POST /invoices", Scope: "invoices:write", Handler: nothing},
		},
	})
	return err
}

func nothing(w http.ResponseWriter, _ *http.Request) error {
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// found makes what there are few of.
func (s *Service) found(ctx context.Context) error {
	s.now = time.Now()
	for k := range appCount {
		created := fixture.App(s.now, scopes)
		created.ClientID, created.Type, created.RedirectURIs = fmt.Sprint("client_", k), partner.Confidential, []string{redirectURI}
		secret, text := fixture.Secret(created)
		one := app{id: created.ID, client: created.ClientID, secret: text}
		err := fixture.AddApp(ctx, s.Store, created, secret)
		if err != nil {
			return err
		}
		for i, name := range []string{"a", "b"} {
			field := valuestore.Field{ID: id.New(id.AppDataField, s.now), AppID: one.id, ResourceType: "invoice", Key: name, Type: valuestore.Text, CreatedAt: s.now, UpdatedAt: s.now}
			err := s.Store.ChangeFields(ctx, one.id, s.now, func(all []valuestore.Field) ([]valuestore.Field, error) { return append(all, field), nil })
			if err != nil {
				return err
			}
			one.fields[i] = field.ID
		}
		s.apps = append(s.apps, one)
	}
	for k := range webhookCount {
		hook, _, err := s.Platform.Webhooks().Create(ctx, webhooks.NewWebhook{
			AppID: s.apps[k%appCount].id, URL: fmt.Sprintf("https://receiver.example.com/%d", k), Events: types,
		})
		if err != nil {
			return err
		}
		s.hooks = append(s.hooks, hook)
	}
	return nil
}

// grow fills the tables, and makes tokens of some rows ones that can be presented.
func (s *Service) grow(ctx context.Context, db *sql.DB, d dialect) error {
	if s.n == 0 {
		return nil
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	s.heads = make([]string, blocks)
	if err := s.fill(ctx, conn, d); err != nil {
		return err
	}
	const most = 1000 // at every size: those that are in use, wherever they are
	apart := max(10, s.n/most)
	statements := make([]string, 0, 2*most)
	for row := 0; row+apart <= s.n; row += apart {
		at := row + len(s.tokens)*7%apart
		tokenID := s.id(id.Token, at)
		access, refresh := secret.NewToken(secret.AccessToken, tokenID), secret.NewToken(secret.RefreshToken, tokenID)
		t := token{row: at, access: access.Reveal(), refresh: refresh.Reveal()}
		s.tokens = append(s.tokens, t)
		statements = append(statements,
			"UPDATE "+d.schema+"partnerkit_access_token SET digest = "+d.bytes(string(access.Digest().Bytes()))+" WHERE id = '"+tokenID+"'",
			"UPDATE "+d.schema+"partnerkit_refresh_token SET digest = "+d.bytes(string(refresh.Digest().Bytes()))+" WHERE id = '"+tokenID+"'")
	}
	for _, text := range append([]string{"BEGIN"}, append(statements, "COMMIT")...) {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	for _, text := range d.settle {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// records finds every record that it is asked for.
type records struct{}

func (records) ExistingRecords(_ context.Context, _ string, asked []appdata.Record) ([]appdata.Record, error) {
	return asked, nil
}
