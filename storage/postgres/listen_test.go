package postgres_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/postgres"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// A commit on one node wakes the watchers on another.
func TestHintsBetweenNodes(t *testing.T) {
	t.Parallel()
	url, schema := testenv.Postgres(t)
	nodes := make([]*sqlstore.Store, 2)
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for i := range nodes {
		store, err := postgres.Open(t.Context(), url, postgres.Config{Schema: schema, MaxConns: 3})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		nodes[i] = store
	}
	hints := nodes[1].Watch(sqlstore.TopicClock)
	defer hints.Stop()
	for _, node := range nodes {
		wg.Go(func() {
			if err := node.Run(ctx); err != nil {
				t.Errorf("Run: %v", err)
			}
		})
	}
	<-hints.C // it listens: "some may have been missed"
	if _, err := nodes[0].AdvanceClock(t.Context(), 1e9); err != nil {
		t.Fatal(err)
	}
	<-hints.C
	cancel()
	wg.Wait()
}

// Another driver has no LISTEN: Listen returns an error that says so, and loops poll.
func TestNoListenWithAnotherDriver(t *testing.T) {
	t.Parallel()
	url, schema := testenv.Postgres(t)
	db, err := postgres.NewDB(hostDB(t, otherDriver, url), postgres.Config{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Listen(t.Context(), func(string) {})
	if !errors.Is(err, storage.ErrNoListen) || !strings.Contains(err.Error(), "not pgx") {
		t.Errorf("listen: %v", err)
	}
	store, err := sqlstore.New(t.Context(), db, sqlstore.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.AdvanceClock(t.Context(), 1e9); err != nil {
		t.Errorf("an act through another driver: %v", err)
	}
}

// With a single connection listening would stop everything else.
func TestNoListenWithOneConnection(t *testing.T) {
	t.Parallel()
	url, schema := testenv.Postgres(t)
	db := openDB(t, url, postgres.Config{Schema: schema, MaxConns: 1})
	if err := db.Listen(t.Context(), func(string) {}); !errors.Is(err, storage.ErrNoListen) {
		t.Errorf("listen: %v", err)
	}
}

// Close ends listening.
func TestListenEndsWithClose(t *testing.T) {
	t.Parallel()
	url, schema := testenv.Postgres(t)
	db := openDB(t, url, postgres.Config{Schema: schema, MaxConns: 2})
	listening := make(chan struct{})
	ended := make(chan error, 1)
	var once sync.Once
	go func() { ended <- db.Listen(t.Context(), func(string) { once.Do(func() { close(listening) }) }) }()
	<-listening
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, storage.ErrClosed) {
		t.Errorf("listen ended with %v", err)
	}
}
