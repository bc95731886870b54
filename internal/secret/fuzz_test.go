package secret_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
)

// TOK-09: what passes as a secret has the form of its kind, and is of no other.
func FuzzParse(f *testing.F) {
	kinds := []secret.Kind{secret.AccessToken, secret.RefreshToken, secret.AuthorizationCode, secret.DeviceCode, secret.ClientSecret, secret.Session, secret.RegistrationToken, secret.ConsoleToken}
	for _, kind := range kinds {
		f.Add(secret.New(kind).Reveal())
		f.Add(string(kind))
	}
	f.Add(secret.NewToken(secret.RefreshToken, id.New(id.Token, time.Now())).Reveal())
	for _, seed := range []string{"", strings.Repeat("a", 43), "pk_\x00", strings.Repeat("ü", 30)} {
		f.Add(seed)
	}
	form := regexp.MustCompile(`^(pk_(ac|dc|cs|ct|reg|ses)_[A-Za-z0-9_-]{43}|pk_[ar]t_[A-Za-z0-9_-]{69})$`)
	f.Fuzz(func(t *testing.T, text string) {
		passed := 0
		for _, kind := range kinds {
			got, err := secret.Parse(kind, text)
			if err != nil {
				if !errors.Is(err, secret.ErrMalformed) || !got.IsZero() {
					t.Fatalf("%q: %v", text, err)
				}
				continue
			}
			passed++
			if !form.MatchString(text) || !strings.HasPrefix(text, string(kind)) || got.Reveal() != text {
				t.Fatalf("%q passed as %s", text, kind)
			}
		}
		if passed > 1 {
			t.Fatalf("%q passed %d times", text, passed)
		}
	})
}

// DEV-05: case, spaces and hyphens do not matter, and nothing else is forgiven.
func FuzzNormalizeUserCode(f *testing.F) {
	for _, seed := range []string{"BCDF-GHJK", "bcdf ghjk", "  b c d f\u2010g h j k", "BCDFGHJ", "BCDFGHJKL", "ACDF-GHJK", "BCDF\u212aHJK", "\x00", "\xff", strings.Repeat("-", 70)} {
		f.Add(seed)
	}
	form := regexp.MustCompile(`^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$`)
	others := regexp.MustCompile(`[\s\v\p{Z}\x{85}\p{Pd}\x{2212}\x{2053}\x{207b}\x{208b}]`) // spaces and dashes
	f.Fuzz(func(t *testing.T, typed string) {
		got, err := secret.NormalizeUserCode(typed)
		if err != nil {
			if !errors.Is(err, secret.ErrUserCode) || got != "" {
				t.Fatalf("%q: %q, %v", typed, got, err)
			}
			return
		}
		if again, err := secret.NormalizeUserCode(got); !form.MatchString(got) || again != got || err != nil {
			t.Fatalf("%q became %q, and that %q: %v", typed, got, again, err)
		}
		if plain := strings.ToUpper(others.ReplaceAllString(typed, "")); plain != strings.ReplaceAll(got, "-", "") {
			t.Fatalf("%q became %q", typed, got)
		}
	})
}
