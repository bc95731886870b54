package secret_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/internal/secret"
)

// DEV-02: XXXX-XXXX, without vowels or look-alikes.
func TestNewUserCode(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$`)
	seen := map[string]bool{}
	for range 2000 {
		code := secret.NewUserCode()
		if !form.MatchString(code) {
			t.Fatalf("code %q, want the form %v", code, form)
		}
		seen[code] = true
		if same, err := secret.NormalizeUserCode(code); err != nil || same != code {
			t.Fatalf("NormalizeUserCode(%q) = %q, %v", code, same, err)
		}
	}
	if len(seen) < 1990 {
		t.Errorf("%d distinct codes of 2000", len(seen))
	}
}

// DEV-02: over all values of a byte, every letter comes up equally often.
func TestUserCodeIsUnbiased(t *testing.T) {
	t.Parallel()
	var every [256]byte
	for i := range every {
		every[i] = byte(i)
	}
	counts := map[byte]int{}
	for _, letter := range secret.AppendLetters(nil, every[:]) {
		counts[letter]++
	}
	if len(counts) != 20 {
		t.Errorf("%d letters, want 20", len(counts))
	}
	for letter, n := range counts {
		if n != 12 {
			t.Errorf("%c comes up %d times of 240, want 12", letter, n)
		}
	}
}

func TestNormalizeUserCode(t *testing.T) {
	t.Parallel()
	for _, typed := range []string{
		"BCDF-GHJK", "bcdf-ghjk", "BcDfGhJk", "bcdfghjk", " bcdf ghjk ", "b c d f - g h j k", "bc-df-gh-jk",
		"BCDF–GHJK", "BCDF\u2011GHJK", "BCDF\u00a0GHJK", "bcdf\tghjk\n", "-BCDFGHJK-",
	} {
		if got, err := secret.NormalizeUserCode(typed); err != nil || got != "BCDF-GHJK" {
			t.Errorf("NormalizeUserCode(%q) = %q, %v", typed, got, err)
		}
	}
	for _, typed := range []string{
		"", "-", "BCDF-GHJ", "BCDF-GHJKL", "BCDF-GHJA", "BCDF-GHJ0", "BCDF-GHJY", "BCDF_GHJK", "BCDF-GHJ\u212a",
		"BCDF-GHJ\x00", "BCDF-GHJ\xff", "BCDFGHJK" + strings.Repeat(" ", 100),
	} {
		if got, err := secret.NormalizeUserCode(typed); !errors.Is(err, secret.ErrUserCode) || got != "" {
			t.Errorf("NormalizeUserCode(%q) = %q, %v, want ErrUserCode", typed, got, err)
		}
	}
}
