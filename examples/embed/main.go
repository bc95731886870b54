// Command embed is the library inside a small backend that has users, tables, a
// router and transactions of its own.
//
//	go run ./examples/embed
//
// With flags it is a sandbox for partners, see package sandbox:
//
//	go run ./examples/embed -dev
package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/sandbox"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

func main() {
	if len(os.Args) > 1 {
		sandbox.Main(configureSandbox)
	}
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt)
	if err := serve(ctx); err != nil {
		log.Fatal(err)
	}
}

// plugIn puts our backend into the configuration of the library: what it asks about our
// people, our own routes, and what apps may call.
func (b *backend) plugIn(c *partnerkit.Config) {
	own := http.NewServeMux()
	own.HandleFunc("GET /hello", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello\n") })
	c.Store, c.Host, c.Service, c.Events = b.store, b, "Office", b.events
	c.APIRoutes = own // for people who are signed in
	c.Routes = []guard.Route{{Pattern: "POST /invoices", Scope: "invoices:write", SessionsAllowed: true, Handler: b.createInvoice}}
	b.choose(c)
}

// serve is all it takes: a store, the backend, the library and two servers.
func serve(ctx context.Context) error {
	store, err := sqlite.Open(ctx, sqlite.Config{Path: sqlite.Memory}) // or postgres.Open, or postgres.New on your *sql.DB
	if err != nil {
		return err
	}
	defer store.Close()
	b, err := openBackend(ctx, store)
	if err != nil {
		return err
	}
	var material [keyring.KeySize]byte // yours comes from where you keep secrets
	_, _ = rand.Read(material[:])      // never fails: Go stops the process first
	ring, err := keyring.Parse(base64.StdEncoding.EncodeToString(material[:]))
	if err != nil {
		return err
	}
	cfg := partnerkit.Config{Keyring: ring, APIURL: "http://localhost:8090", AppURL: "http://localhost:8091"}
	b.plugIn(&cfg)
	if b.platform, err = partnerkit.New(cfg); err != nil {
		return err
	}
	log.Print("http://localhost:8090/.well-known/oauth-authorization-server")
	return b.platform.Serve(ctx, // until ctx ends: both hosts, webhooks, retention, analytics
		&http.Server{Addr: "localhost:8090", Handler: b.platform.API()},
		&http.Server{Addr: "localhost:8091", Handler: b.platform.App()})
}
