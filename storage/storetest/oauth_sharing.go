package storetest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// RunSharing runs the cases of mints on a store whose refreshes and code exchanges share
// transactions, even when each is the only one.
func RunSharing(t *testing.T, open Opener) {
	env := func(t *testing.T, open Opener) *Env {
		t.Helper()
		e := newEnv(t, open, sqlstore.Config{FewMints: -1})
		e.isSharing = true
		return e
	}
	runCases(t, mintCases, func(t *testing.T, run func(*testing.T, *Env)) { run(t, env(t, open)) })
	runCases(t, sharingCases, func(t *testing.T, run func(*testing.T, *sharing)) {
		var s sharing
		e := env(t, func(t testing.TB) storage.DB {
			s.DB = open(t)
			return &s.turnstile
		})
		s.oauthFixture = newOAuth(t, e)
		run(t, &s)
	})
}

// sharing is a store whose mints share transactions, on a database that can hold them up.
type sharing struct {
	*oauthFixture
	turnstile
}

// sharingCases: what mints share is a transaction, and nothing else.
var sharingCases = []testCase[*sharing]{
	{"A crowd shares commits", func(t *testing.T, s *sharing) {
		for kind, next := range s.kinds(t) {
			tries, _ := s.together(t, next, func() { s.Tap.Reset() })
			if statements, commits := s.Tap.Counts(); commits > len(tries)/2 {
				t.Errorf("%s: %d statements and %d commits for %d", kind, statements, commits, len(tries))
			}
			s.wantAll(t, tries)
		}
	}},
	{"A crowd under faults", func(t *testing.T, s *sharing) {
		for kind, next := range s.kinds(t) {
			for nth, struck := 1, true; struck; nth++ {
				tries, errs := s.together(t, next, func() { s.Tap.Arm(FaultError, nth) })
				struck = s.Tap.Struck()
				s.Tap.Reset()
				if err := errors.Join(errs...); err != nil {
					t.Fatalf("%s, an error at statement %d: not all went another way: %v", kind, nth, err)
				}
				s.wantAll(t, tries)
			}
		}
	}},
	// Those who shared the commit do not know, and nobody tries it again.
	{"A crowd whose commit is not answered", func(t *testing.T, s *sharing) {
		for kind, next := range s.kinds(t) {
			tries, errs := s.together(t, next, func() { s.Tap.Arm(FaultLostCommit, 1) })
			unknown := 0
			for _, err := range errs {
				if err != nil {
					unknown++
				}
				if err != nil && !errors.Is(err, ErrInjected) {
					t.Error(err)
				}
			}
			if unknown < 2 {
				t.Errorf("%s: %d of %d were told", kind, unknown, len(tries))
			}
			s.Tap.Reset()
			s.wantAll(t, tries)
		}
	}},
	{"Some of a crowd go", func(t *testing.T, s *sharing) {
		for kind, next := range s.kinds(t) {
			ctx, cancel := context.WithCancel(t.Context())
			n := 0
			tries, errs := s.together(t, func() try {
				a := next()
				if n++; n%2 == 0 {
					a.ctx = ctx
				}
				return a
			}, cancel)
			for i, err := range errs {
				if err != nil && tries[i].ctx != ctx {
					t.Errorf("%s: one who stayed: %v", kind, err)
				}
				if err == nil {
					s.wantLive(t, tries[i].mint, true)
				}
			}
		}
	}},
	// Nothing stands between this store and its database, so that statements travel with
	// the commit.
	{"A crowd with one that cannot be written", func(t *testing.T, s *sharing) {
		store := get[*sqlstore.Store](t)(sqlstore.New(t.Context(), s.DB, sqlstore.Config{FewMints: -1}))
		f := &oauthFixture{Env: &Env{Store: store}, app: s.app, business: s.business, user: s.user}
		taken := f.issued(t)
		for range max(1, rounds()/10) {
			var tries []try
			for range crowd / 2 {
				tries = append(tries, f.redemption(t, f.code(t)), f.rotation(t, oauthserver.Rotation{Token: f.refreshToken(t, f.issued(t))}))
			}
			bad := mint(noon)
			bad.AccessID = taken.AccessID
			code := f.code(t)
			tries = append(tries, try{code.ID, bad, t.Context(), func(ctx context.Context) (oauthserver.Minted, error) {
				minted, err := f.RedeemCode(ctx, code, bad)
				if err == nil {
					t.Errorf("a token with an id that is taken: %q", minted.Outcome)
				}
				return minted, nil
			}})
			mintAtOnce(t, tries)
			s.wantAll(t, tries[:crowd])
		}
	}},
	// What somebody else holds is waited for by whom it concerns.
	{"A crowd does not wait for one of it", func(t *testing.T, s *sharing) {
		held := newOAuth(t, s.Env)
		waiting := held.rotation(t, oauthserver.Rotation{Token: held.refreshToken(t, held.issued(t))})
		tx, err := s.BeginTx(t.Context())
		must(t, err)
		defer tx.Rollback()
		must(t, s.WithTx(tx).SetAppStatus(t.Context(), held.app.ID, oauthserver.AppSuspended))
		var got oauthserver.Minted
		waited := inBackground(func() (err error) {
			got, err = waiting.do(waiting.ctx)
			return err
		})
		var tries []try
		for _, next := range s.kinds(t) {
			for range crowd / 2 {
				tries = append(tries, next())
			}
		}
		mintAtOnce(t, tries)
		s.wantAll(t, tries)
		wantWaiting(t, waited)
		must(t, tx.Commit(t.Context()))
		must(t, <-waited)
		if got.Outcome != oauthserver.ClientDead {
			t.Errorf("the one that waited: %q", got.Outcome)
		}
	}},
}

// kinds make tries of each kind that is shared.
func (s *sharing) kinds(t *testing.T) map[string]func() try {
	t.Helper()
	return map[string]func() try{
		"codes": func() try { return s.redemption(t, s.code(t)) },
		"refreshes": func() try {
			return s.rotation(t, oauthserver.Rotation{Token: s.refreshToken(t, s.issued(t)), Retry: time.Minute, Answer: []byte("kept")})
		},
	}
}

func (s *sharing) wantAll(t *testing.T, tries []try) {
	t.Helper()
	for _, a := range tries {
		s.wantLive(t, a.mint, true)
	}
}

// together has tries mint in as few transactions as they may, and returns what each was
// told. It calls before when all but the first two of them wait for the transaction that
// is about to begin.
func (s *sharing) together(t *testing.T, next func() try, before func()) (tries []try, errs []error) {
	t.Helper()
	tries, errs = make([]try, 10), make([]error, 10)
	for i := range tries {
		tries[i] = next()
	}
	var all sync.WaitGroup
	mint := func(i int) {
		all.Go(func() { _, errs[i] = tries[i].do(tries[i].ctx) })
	}
	s.shut()
	for i := range tries {
		mint(i)
		if i < 2 { // these two begin at once
			s.await(i + 1)
		}
	}
	time.Sleep(50 * time.Millisecond) // they, or most, have come
	s.await(1).run()
	shared := s.await(3)
	before()
	shared.run()
	s.open()
	all.Wait()
	return tries, errs
}

// turnstile is a database that can hold up its acts.
type turnstile struct {
	storage.DB

	mu     sync.Mutex
	isShut bool
	acts   []heldAct // those that came meanwhile
}

type heldAct struct{ enter, over chan struct{} }

// Write implements [storage.DB].
func (s *turnstile) Write(ctx context.Context, act storage.Act) error {
	held := heldAct{make(chan struct{}), make(chan struct{})}
	defer close(held.over)
	s.mu.Lock()
	if s.isShut {
		s.acts = append(s.acts, held)
	} else {
		close(held.enter)
	}
	s.mu.Unlock()
	<-held.enter
	return s.DB.Write(ctx, act)
}

func (s *turnstile) shut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isShut = true
}

// await waits until so many have come, and returns the last.
func (s *turnstile) await(n int) heldAct {
	for {
		s.mu.Lock()
		came := s.acts
		s.mu.Unlock()
		if len(came) >= n {
			return came[n-1]
		}
		time.Sleep(time.Millisecond)
	}
}

// run lets the act in and waits until it is over.
func (a heldAct) run() {
	close(a.enter)
	<-a.over
}

// open lets in all that are held, and whoever comes.
func (s *turnstile) open() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.acts {
		select {
		case <-a.enter: // it was let in
		default:
			close(a.enter)
		}
	}
	s.acts, s.isShut = nil, false
}
