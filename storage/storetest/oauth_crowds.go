package storetest

import (
	"context"
	"testing"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
)

// crowd is how many mint at once: enough to share transactions where they do.
const crowd = 48

// crowdCases: many that mint at once, each for itself, are answered as if alone.
var crowdCases = []testCase[*Env]{
	{"A crowd redeems and refreshes", func(t *testing.T, e *Env) {
		one, other := newOAuth(t, e), newOAuth(t, e)
		for range max(1, rounds()/10) {
			tries, before := make([]try, crowd), make([]oauthserver.NewTokens, crowd)
			for i := range tries {
				f := []*oauthFixture{one, other}[i%2]
				switch i % 3 {
				case 0:
					tries[i] = f.redemption(t, f.code(t))
				case 1:
					before[i] = f.issued(t)
					tries[i] = f.rotation(t, oauthserver.Rotation{Token: f.refreshToken(t, before[i])})
				default:
					before[i] = f.issued(t)
					tries[i] = f.rotation(t, oauthserver.Rotation{Token: f.refreshToken(t, before[i]), Narrow: identity.MustScopes("events:read")})
				}
			}
			for i, got := range mintAtOnce(t, tries) {
				want := allScopes
				if i%3 == 2 {
					want = identity.MustScopes("events:read")
				}
				if got.Outcome != oauthserver.Issued || !got.Scopes.Equal(want) {
					t.Fatalf("contender %d: %q with %q", i, got.Outcome, got.Scopes)
				}
				one.wantLive(t, tries[i].mint, true)
				if i%3 != 0 {
					one.wantLive(t, before[i], false)
				}
			}
		}
	}},
	// CODE-06, REF-05: one winner of each.
	{"A crowd with doubles", func(t *testing.T, e *Env) {
		f := newOAuth(t, e)
		for range max(1, rounds()/10) {
			var tries []try
			for range crowd / 6 {
				code, token := f.code(t), f.refreshToken(t, f.issued(t))
				for range 3 {
					tries = append(tries, f.redemption(t, code), f.rotation(t, oauthserver.Rotation{Token: token}))
				}
			}
			won := map[string]int{}
			for i, got := range mintAtOnce(t, tries) {
				if got.Outcome == oauthserver.Issued {
					won[tries[i].of]++
				}
				f.wantLive(t, tries[i].mint, false)
			}
			for i := range tries {
				if won[tries[i].of] != 1 {
					t.Fatalf("%s was used up by %d of 3", tries[i].of, won[tries[i].of])
				}
			}
		}
	}},
	{"A crowd and some that must not", func(t *testing.T, e *Env) {
		f, gone := newOAuth(t, e), newOAuth(t, e)
		for range max(1, rounds()/10) {
			used, ended, removed := f.refreshToken(t, f.issued(t)), f.refreshToken(t, f.issued(t)), gone.code(t)
			get[oauthserver.IssueResult](t)(f.RotateRefresh(t.Context(), oauthserver.Rotation{Token: used}, mint(noon)))
			must(t, f.EndFamily(t.Context(), ended.FamilyID, noon))
			must(t, gone.end(t, oauthserver.InstallationRemoved))
			tries := []try{f.rotation(t, oauthserver.Rotation{Token: used}), f.rotation(t, oauthserver.Rotation{Token: ended}), gone.redemption(t, removed)}
			want := []oauthserver.Outcome{oauthserver.Lost, oauthserver.Revoked, oauthserver.Dead}
			for range crowd / 2 {
				tries = append(tries, f.redemption(t, f.code(t)), f.rotation(t, oauthserver.Rotation{Token: f.refreshToken(t, f.issued(t))}))
				want = append(want, oauthserver.Issued, oauthserver.Issued)
			}
			for i, got := range mintAtOnce(t, tries) {
				if got.Outcome != want[i] {
					t.Fatalf("contender %d: %q, want %q", i, got.Outcome, want[i])
				}
				f.wantLive(t, tries[i].mint, want[i] == oauthserver.Issued)
			}
		}
	}},
	{"Uninstall against a crowd", func(t *testing.T, e *Env) {
		for range max(1, rounds()/10) {
			f, other := newOAuth(t, e), newOAuth(t, e)
			var tries []try
			for range crowd / 3 {
				tries = append(tries, f.redemption(t, f.code(t)), f.rotation(t, oauthserver.Rotation{Token: f.refreshToken(t, f.issued(t))}),
					other.rotation(t, oauthserver.Rotation{Token: other.refreshToken(t, other.issued(t))}))
			}
			ended := inBackground(func() error { return f.end(t, oauthserver.InstallationRemoved) })
			got := mintAtOnce(t, tries)
			must(t, <-ended)
			for i := range tries {
				f.wantLive(t, tries[i].mint, i%3 == 2)
				if i%3 == 2 && got[i].Outcome != oauthserver.Issued {
					t.Errorf("in another business: %q", got[i].Outcome)
				}
			}
		}
	}},
}

// try is a mint that is about to be tried.
type try struct {
	of   string // what it uses up
	mint oauthserver.NewTokens
	ctx  context.Context
	do   func(ctx context.Context) (oauthserver.IssueResult, error)
}

func (f *oauthFixture) redemption(t *testing.T, code oauthserver.Code) try {
	m := mint(noon)
	return try{code.ID, m, t.Context(), func(ctx context.Context) (oauthserver.IssueResult, error) { return f.RedeemCode(ctx, code, m) }}
}

func (f *oauthFixture) rotation(t *testing.T, r oauthserver.Rotation) try {
	m := mint(noon)
	return try{r.Token.ID, m, t.Context(), func(ctx context.Context) (oauthserver.IssueResult, error) { return f.RotateRefresh(ctx, r, m) }}
}

// mintAtOnce wants no fault.
func mintAtOnce(t *testing.T, tries []try) []oauthserver.IssueResult {
	t.Helper()
	got := make([]oauthserver.IssueResult, len(tries))
	Race(len(tries), func(i int) {
		minted, err := tries[i].do(tries[i].ctx)
		if err != nil {
			t.Error(err)
		}
		got[i] = minted
	})
	return got
}
