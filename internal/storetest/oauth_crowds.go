package storetest

import (
	"context"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// crowd is the number of concurrent issues: enough for a driver to share transactions.
const crowd = 48

// crowdCases check that concurrent, unrelated issues end as they would alone.
var crowdCases = []testCase[partnerkit.Store]{
	{"A crowd redeems and refreshes", func(t *testing.T, e partnerkit.Store) {
		one, other := newOAuth(t, e), newOAuth(t, e)
		for range max(1, rounds()/10) {
			tries, before := make([]try, crowd), make([]oauthstore.NewTokens, crowd)
			for i := range tries {
				f := []*oauthFixture{one, other}[i%2]
				switch i % 3 {
				case 0:
					tries[i] = f.redemption(t, f.code(t))
				case 1:
					before[i] = f.issued(t)
					tries[i] = f.rotation(t, oauthstore.Rotation{Token: f.refreshToken(t, before[i])})
				default:
					before[i] = f.issued(t)
					tries[i] = f.rotation(t, oauthstore.Rotation{Token: f.refreshToken(t, before[i]), Narrow: identity.MustScopes("events:read")})
				}
			}
			for i, got := range issueAtOnce(t, tries) {
				want := allScopes
				if i%3 == 2 {
					want = identity.MustScopes("events:read")
				}
				if got.Outcome != oauthstore.Issued || !got.Scopes.Equal(want) {
					t.Fatalf("contender %d: %q with %q", i, got.Outcome, got.Scopes)
				}
				one.wantLive(t, tries[i].tokens, true)
				if i%3 != 0 {
					one.wantLive(t, before[i], false)
				}
			}
		}
	}},
	// CODE-06, REF-05: one winner of each.
	{"A crowd with doubles", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		for range max(1, rounds()/10) {
			var tries []try
			for range crowd / 6 {
				code, token := f.code(t), f.refreshToken(t, f.issued(t))
				for range 3 {
					tries = append(tries, f.redemption(t, code), f.rotation(t, oauthstore.Rotation{Token: token}))
				}
			}
			won := map[string]int{}
			for i, got := range issueAtOnce(t, tries) {
				if got.Outcome == oauthstore.Issued {
					won[tries[i].of]++
				}
				f.wantLive(t, tries[i].tokens, false)
			}
			for i := range tries {
				if won[tries[i].of] != 1 {
					t.Fatalf("%s was used up by %d of 3", tries[i].of, won[tries[i].of])
				}
			}
		}
	}},
	{"A crowd and some that must not", func(t *testing.T, e partnerkit.Store) {
		f, gone := newOAuth(t, e), newOAuth(t, e)
		for range max(1, rounds()/10) {
			used, ended, removed := f.refreshToken(t, f.issued(t)), f.refreshToken(t, f.issued(t)), gone.code(t)
			get[oauthstore.IssueResult](t)(f.RotateRefresh(t.Context(), oauthstore.Rotation{Token: used}, newTokens(noon)))
			get[bool](t)(f.EndFamily(t.Context(), ended.FamilyID, noon))
			must(t, gone.end(t, partner.InstallationRemoved))
			tries := []try{f.rotation(t, oauthstore.Rotation{Token: used}), f.rotation(t, oauthstore.Rotation{Token: ended}), gone.redemption(t, removed)}
			want := []oauthstore.Outcome{oauthstore.Lost, oauthstore.Revoked, oauthstore.Dead}
			for range crowd / 2 {
				tries = append(tries, f.redemption(t, f.code(t)), f.rotation(t, oauthstore.Rotation{Token: f.refreshToken(t, f.issued(t))}))
				want = append(want, oauthstore.Issued, oauthstore.Issued)
			}
			for i, got := range issueAtOnce(t, tries) {
				if got.Outcome != want[i] {
					t.Fatalf("contender %d: %q, want %q", i, got.Outcome, want[i])
				}
				f.wantLive(t, tries[i].tokens, want[i] == oauthstore.Issued)
			}
		}
	}},
	{"Uninstall against a crowd", func(t *testing.T, e partnerkit.Store) {
		for range max(1, rounds()/10) {
			f, other := newOAuth(t, e), newOAuth(t, e)
			var tries []try
			for range crowd / 3 {
				tries = append(tries, f.redemption(t, f.code(t)), f.rotation(t, oauthstore.Rotation{Token: f.refreshToken(t, f.issued(t))}),
					other.rotation(t, oauthstore.Rotation{Token: other.refreshToken(t, other.issued(t))}))
			}
			ended := inBackground(func() error { return f.end(t, partner.InstallationRemoved) })
			got := issueAtOnce(t, tries)
			must(t, <-ended)
			for i := range tries {
				f.wantLive(t, tries[i].tokens, i%3 == 2)
				if i%3 == 2 && got[i].Outcome != oauthstore.Issued {
					t.Errorf("in another business: %q", got[i].Outcome)
				}
			}
		}
	}},
}

// try is one attempt to issue tokens.
type try struct {
	of     string // the id of the artifact it uses up
	tokens oauthstore.NewTokens
	ctx    context.Context
	do     func(ctx context.Context) (oauthstore.IssueResult, error)
}

func (f *oauthFixture) redemption(t *testing.T, code oauthstore.Code) try {
	m := newTokens(noon)
	return try{code.ID, m, t.Context(), func(ctx context.Context) (oauthstore.IssueResult, error) { return f.RedeemCode(ctx, code, m) }}
}

func (f *oauthFixture) rotation(t *testing.T, r oauthstore.Rotation) try {
	m := newTokens(noon)
	return try{r.Token.ID, m, t.Context(), func(ctx context.Context) (oauthstore.IssueResult, error) { return f.RotateRefresh(ctx, r, m) }}
}

// issueAtOnce runs all tries concurrently and fails the test on an error.
func issueAtOnce(t *testing.T, tries []try) []oauthstore.IssueResult {
	t.Helper()
	got := make([]oauthstore.IssueResult, len(tries))
	testdb.Race(len(tries), func(i int) {
		result, err := tries[i].do(tries[i].ctx)
		if err != nil {
			t.Error(err)
		}
		got[i] = result
	})
	return got
}
