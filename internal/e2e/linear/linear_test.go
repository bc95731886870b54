package linear_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/partnerkit/partnerkit/internal/proof"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage/postgres"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

// The number of clients in each history, and the number of calls of each client.
const (
	clients = 5
	calls   = 5
)

func TestSQLite(t *testing.T) {
	t.Parallel()
	run(t, "SQLite", openSQLite(t))
}

func openSQLite(t testing.TB) nodes {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "linear.db")})
	must(t, err)
	t.Cleanup(func() { _ = store.Close() })
	return nodes{store}
}

// Two nodes share the database.
func TestPostgres(t *testing.T) {
	t.Parallel()
	url, schema := testenv.Postgres(t)
	var both nodes
	for range 2 {
		store, err := postgres.Open(t.Context(), url, postgres.Config{Schema: schema, MaxConns: 4})
		must(t, err)
		t.Cleanup(func() { _ = store.Close() })
		both = append(both, store)
	}
	run(t, "PostgreSQL", both)
}

func run(t *testing.T, database string, n nodes) {
	for thing, of := range map[string]struct {
		model model
		begin func(t testing.TB, w fixture) client
	}{
		"codes":          {codeModel, beginCode},
		"refresh tokens": {familyModel, beginFamily},
		"device codes":   {deviceModel, beginDevice},
		"session tokens": {sessionModel, beginSession},
	} {
		t.Run(thing, func(t *testing.T) {
			p := proof.Begin(t, "Linearizability of "+thing+", "+database, "histories")
			for range testenv.Rounds(20, 500) {
				history := record(t, of.begin(t, newFixture(t, n)))
				p.Tried(1)
				if !of.model.check(history) {
					p.Violation("not linearizable: %v", inOrder(history))
				}
			}
		})
	}
}

// client makes one call of its choice, and returns the call and its result.
type client func(ctx context.Context, who int) (call, string, error)

// record lets clients call at the same time and writes down when and what.
func record(t testing.TB, do client) (history []porcupine.Operation) {
	t.Helper()
	began := time.Now()
	start := make(chan struct{})
	var mu sync.Mutex
	var all sync.WaitGroup
	for who := 1; who <= clients; who++ {
		all.Go(func() {
			<-start
			for range calls {
				from := time.Since(began)
				asked, response, err := do(t.Context(), who)
				to := time.Since(began)
				if err != nil {
					t.Errorf("%s: %v", asked.verb, err)
				}
				mu.Lock()
				history = append(history, porcupine.Operation{ClientId: who, Call: int64(from), Return: int64(to), Input: asked, Output: response})
				mu.Unlock()
			}
		})
	}
	close(start)
	all.Wait()
	return history
}

func inOrder(history []porcupine.Operation) []porcupine.Operation {
	slices.SortFunc(history, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	return history
}

// tokensForClients makes what each client may get.
func tokensForClients() (all [clients + 1]oauthstore.NewTokens) {
	for i := range all {
		all[i] = newTokens()
	}
	return all
}

func beginCode(t testing.TB, w fixture) client {
	code, mine := w.code(t), tokensForClients()
	return func(ctx context.Context, who int) (call, string, error) {
		if rand.IntN(3) == 0 { // a code is presented once, or a few times
			response, err := w.present(ctx, w.of(who), code, mine[who])
			return call{"redeem", who}, response, err
		}
		about := 1 + rand.IntN(clients)
		response, err := verify(ctx, w.of(who), mine[about])
		return call{"verify", about}, response, err
	}
}

func beginFamily(t testing.TB, w fixture) client {
	first := newTokens()
	if response, err := w.present(t.Context(), w.of(0), w.code(t), first); err != nil || response != "issued" {
		t.Fatal(response, err)
	}
	var mu sync.Mutex
	known := []oauthstore.NewTokens{1: first} // by generation
	return func(ctx context.Context, who int) (call, string, error) {
		mu.Lock()
		newest := len(known) - 1
		about := max(1, newest-rand.IntN(10)/9) // one in ten is old
		presented := known[about]
		mu.Unlock()
		switch rand.IntN(12) {
		case 0:
			token, err := w.of(who).RefreshToken(ctx, presented.RefreshID, presented.RefreshDigest)
			_, failed := w.of(who).EndFamily(ctx, token.FamilyID, noon)
			return call{"revoke", 0}, "done", errors.Join(err, failed)
		case 1, 2, 3:
			next := newTokens()
			response, err := refresh(ctx, w.of(who), presented, next)
			if response == "issued" {
				mu.Lock()
				known = append(known, next)
				mu.Unlock()
			}
			return call{"refresh", about}, response, err
		}
		response, err := verify(ctx, w.of(who), presented)
		return call{"verify", about}, response, err
	}
}

func beginDevice(t testing.TB, w fixture) client {
	id, code, userCode, mine := name(), name(), name(), tokensForClients()
	device := oauthstore.DeviceCode{ID: id, UserCode: userCode, Scopes: scopes, CreatedAt: noon, ExpiresAt: noon.Add(time.Minute)}
	device.AppID = w.app
	must(t, w.of(0).CreateDevice(t.Context(), device, digest(code)))
	return func(ctx context.Context, who int) (call, string, error) {
		switch rand.IntN(8) {
		case 0:
			approved, err := w.of(who).DecideDevice(ctx, w.approval(id))
			return call{"approve", 0}, map[bool]string{true: "done", false: "not open"}[approved.Outcome == oauthstore.ApprovalDone], err
		case 1:
			denied, err := w.of(who).DecideDevice(ctx, oauthstore.Decision{RequestID: id, Now: noon, IsDenied: true})
			return call{"deny", 0}, map[bool]string{true: "done", false: "not open"}[denied.Outcome == oauthstore.ApprovalDone], err
		case 2, 3:
			about := 1 + rand.IntN(clients)
			response, err := verify(ctx, w.of(who), mine[about])
			return call{"verify", about}, response, err
		}
		response, err := poll(ctx, w.of(who), code, mine[who])
		return call{"poll", who}, response, err
	}
}

func beginSession(t testing.TB, w fixture) client {
	w.code(t) // installs the app
	token, mine := name(), tokensForClients()
	return func(ctx context.Context, who int) (call, string, error) {
		switch rand.IntN(12) {
		case 0:
			_, err := w.of(who).EndInstallation(ctx, oauthstore.EndInstallation{
				AppID: w.app, BusinessID: w.business, Status: partner.InstallationRemoved, Now: noon, RedactAt: noon,
				Record: func(partner.Installation) []partner.Event { return nil },
			})
			if errors.Is(err, partner.ErrNotFound) {
				return call{"uninstall", 0}, gone, nil
			}
			return call{"uninstall", 0}, live, err
		case 1, 2, 3:
			response, err := exchange(ctx, w.of(who), w, token, mine[who])
			return call{"exchange", who}, response, err
		}
		about := 1 + rand.IntN(clients)
		response, err := verify(ctx, w.of(who), mine[about])
		return call{"verify", about}, response, err
	}
}
