// Command embed is the library inside a small backend that has users, tables, a
// router and transactions of its own.
//
//	go run ./examples/embed
package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"log"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := serve(ctx)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// serve is all it takes: a store, what the library asks about our staff, servers.
func serve(ctx context.Context) error {
	store, err := sqlite.Open(ctx, sqlite.Config{Path: sqlite.Memory}) // or postgres.Open, or postgres.New on your *sql.DB
	if err != nil {
		return err
	}
	defer store.Close()
	office, err := openOffice(ctx, store)
	if err != nil {
		return err
	}
	var material [keyring.KeySize]byte // yours comes from where you keep secrets
	_, _ = rand.Read(material[:])      // never fails: Go stops the process first
	ring, err := keyring.Parse(base64.StdEncoding.EncodeToString(material[:]))
	if err != nil {
		return err
	}
	platform, err := office.join(ctx, ring, origins{api: "http://localhost:8090", app: "http://localhost:8091"})
	if err != nil {
		return err
	}

	api := &http.Server{Addr: "localhost:8090", Handler: platform.API(), ReadHeaderTimeout: 5 * time.Second}
	app := &http.Server{Addr: "localhost:8091", Handler: platform.App(), ReadHeaderTimeout: 5 * time.Second}
	failed := make(chan error, 2)
	for _, server := range []*http.Server{api, app} {
		go func() { failed <- server.ListenAndServe() }()
	}
	loops, stopLoops := context.WithCancel(context.WithoutCancel(ctx))
	defer stopLoops()
	ran := make(chan error, 1)
	go func() { ran <- platform.Run(loops) }()
	log.Print("http://localhost:8090/.well-known/oauth-authorization-server")

	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	err = errors.Join(err, api.Shutdown(loops), app.Shutdown(loops)) // with what is under way
	stopLoops()
	return errors.Join(err, <-ran)
}

// origins are the public ones of the two hosts.
type origins struct{ api, app string }

// join puts the platform next to the office.
func (o *office) join(ctx context.Context, ring *keyring.Keyring, at origins) (*partnerkit.Platform, error) {
	known, err := scopes()
	if err != nil {
		return nil, err
	}
	recorded, err := catalog()
	if err != nil {
		return nil, err
	}
	platform, err := partnerkit.New(ctx, partnerkit.Config{
		Store: o.store, Host: o, Keyring: ring, Pages: pages.New(),
		APIURL: at.api, AppURL: at.app, Service: "Office",
		Scopes: known, Events: recorded,
		Routes:    o.opened(), // to apps, by their tokens
		APIRoutes: o.routes(), // to whoever is signed in
	})
	if err != nil {
		return nil, err
	}
	o.happened = platform.Events()
	return platform, nil
}
