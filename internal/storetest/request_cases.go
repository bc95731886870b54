package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// requestCases: how many authorization requests of a session a store holds.
var requestCases = []testCase[partnerkit.Store]{
	{"AZ-17 A session holds a limited number of open requests", func(t *testing.T, e partnerkit.Store) {
		f, other := newOAuth(t, e), newOAuth(t, e)
		foreign, decided := other.hold(t, allScopes), f.hold(t, allScopes)
		must(t, denied(e.DecideRequest(t.Context(), f.denial(decided.ID, noon))))
		all := make([]oauthstore.AuthorizationRequest, oauthstore.MaxOpenRequests+2)
		for i := range all {
			all[i] = f.request(allScopes)
			all[i].ID = id.New(id.Authorization, noon.Add(time.Duration(i)*time.Millisecond))
			must(t, e.HoldRequest(t.Context(), all[i]))
			must(t, e.HoldRequest(t.Context(), all[i])) // its digest is known: nothing happens
		}
		for i, request := range all {
			if held := f.isHeld(t, request); held != (i >= 2) {
				t.Errorf("request %d of %d is held: %v", i, len(all), held)
			}
		}
		if !f.isHeld(t, decided) || !f.isHeld(t, foreign) {
			t.Error("a request that was decided, or of another session, was deleted")
		}
	}},
	{"AZ-17 Race to hold the last requests", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		all := make([]oauthstore.AuthorizationRequest, oauthstore.MaxOpenRequests-1)
		for i := range all {
			all[i] = f.hold(t, allScopes)
		}
		for round := range min(rounds(), 10) {
			late := make([]oauthstore.AuthorizationRequest, 8)
			for i := range late {
				late[i] = f.request(allScopes)
				late[i].ID = id.New(id.Authorization, noon.Add(time.Duration(round+1)*time.Second))
			}
			testdb.Race(len(late), func(i int) {
				if err := f.HoldRequest(t.Context(), late[i]); err != nil {
					t.Error(err)
				}
			})
			all = append(all, late...)
			held := 0
			for _, request := range all {
				if f.isHeld(t, request) {
					held++
				}
			}
			if held != oauthstore.MaxOpenRequests {
				t.Fatalf("%d requests are held, want %d", held, oauthstore.MaxOpenRequests)
			}
		}
	}},
	{"AZ-17 Race to hold one request", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		first := f.request(allScopes)
		testdb.Race(8, func(int) {
			again := first
			again.ID = id.New(id.Authorization, noon)
			if err := f.HoldRequest(t.Context(), again); err != nil {
				t.Error(err)
			}
		})
		held := get[oauthstore.AuthorizationRequest](t)(e.Request(t.Context(), first.Digest))
		must(t, denied(e.DecideRequest(t.Context(), f.denial(held.ID, noon))))
		must(t, e.HoldRequest(t.Context(), first))
		if again := get[oauthstore.AuthorizationRequest](t)(e.Request(t.Context(), first.Digest)); again.UsedAt.IsZero() || again.State != nil {
			t.Errorf("held again after the decision: %+v", again)
		}
	}},
}

func (f *oauthFixture) isHeld(t testing.TB, request oauthstore.AuthorizationRequest) bool {
	t.Helper()
	_, err := f.Request(t.Context(), request.Digest)
	if err != nil && !errors.Is(err, partner.ErrNotFound) {
		t.Fatal(err)
	}
	return err == nil
}
