package secret_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
)

// TOK-09: 256 random bits, prefixed by kind; TOK-01: of [A-Za-z0-9_-] only. SIG-05: those of
// webhooks are in padded standard base64.
func TestNew(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^([0-9a-z]{26})?[A-Za-z0-9_-]{43}$`) // tokens carry an id
	standard := regexp.MustCompile(`^[A-Za-z0-9+/]{43}=$`)
	seen := map[string]bool{}
	for _, kind := range secret.Kinds {
		for range 100 {
			text := secret.New(kind).Reveal()
			body, ok := strings.CutPrefix(text, string(kind))
			want := form
			if kind == secret.WebhookSecret {
				want = standard
			}
			if !ok || !want.MatchString(body) {
				t.Fatalf("New(%s) = %q", kind, text)
			}
			if seen[body] {
				t.Fatalf("New(%s) repeats itself", kind)
			}
			seen[body] = true
		}
	}
}

// API-01: a text with one of our prefixes is ours, even if it is malformed.
func TestIsOurs(t *testing.T) {
	t.Parallel()
	for _, kind := range secret.Kinds {
		if !secret.IsOurs(string(kind)) || !secret.IsOurs(string(kind)+"x y") || !secret.IsOurs(secret.New(kind).Reveal()) {
			t.Errorf("a text that begins with %s is not ours", kind)
		}
	}
	for _, foreign := range []string{"", "pk_", "pk_at", "pk_live_1", " pk_at_1", "PK_AT_1", "eyJhbGciOiJFUzI1NiJ9"} {
		if secret.IsOurs(foreign) {
			t.Errorf("%q is ours", foreign)
		}
	}
}

// TOK-09: a token carries the id of its record before as many random bits.
func TestNewToken(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[0-9a-v]{26}[A-Za-z0-9_-]{43}$`)
	seen := map[string]bool{}
	for _, kind := range []secret.Kind{secret.AccessToken, secret.RefreshToken} {
		for range 100 {
			tokenID := id.New(id.Token, time.Now())
			token := secret.NewToken(kind, tokenID)
			body, ok := strings.CutPrefix(token.Reveal(), string(kind))
			if !ok || !form.MatchString(body) || token.TokenID() != tokenID {
				t.Fatalf("NewToken(%s) = %q, of %q", kind, token.Reveal(), token.TokenID())
			}
			random := body[id.Length:]
			if seen[random] {
				t.Fatalf("NewToken(%s) repeats itself", kind)
			}
			seen[random] = true
			if got, ok := secret.KindOf(token.Reveal()); !ok || got != kind {
				t.Errorf("KindOf(a %s) = %q, %t", kind, got, ok)
			}
			for _, asked := range secret.Kinds {
				parsed, err := secret.Parse(asked, token.Reveal())
				if (err == nil) != (asked == kind) || err == nil && (!parsed.Equal(token) || parsed.TokenID() != tokenID) {
					t.Errorf("Parse(%s, a %s) = %v", asked, kind, err)
				}
			}
		}
	}
	for _, kind := range secret.Kinds {
		isToken := kind == secret.AccessToken || kind == secret.RefreshToken
		if got := secret.New(kind).TokenID(); (got != "") != isToken {
			t.Errorf("a %s carries the id %q", kind, got)
		}
		if isToken {
			continue
		}
		if _, err := secret.Parse(kind, secret.NewToken(kind, id.New(id.Token, time.Now())).Reveal()); !errors.Is(err, secret.ErrMalformed) {
			t.Errorf("a %s may carry an id: %v", kind, err)
		}
	}
}

// TOK-09: an artefact of one kind never passes for another.
func TestParseTellsKindsApart(t *testing.T) {
	t.Parallel()
	for _, made := range secret.Kinds {
		s := secret.New(made)
		if kind, ok := secret.KindOf(s.Reveal()); !ok || kind != made {
			t.Errorf("KindOf(a %s) = %q, %t", made, kind, ok)
		}
		for _, asked := range secret.Kinds {
			parsed, err := secret.Parse(asked, s.Reveal())
			if made == asked {
				if err != nil || !parsed.Equal(s) {
					t.Errorf("Parse(%s, a %s) = %v", asked, made, err)
				}
				continue
			}
			if !errors.Is(err, secret.ErrMalformed) || !parsed.IsZero() {
				t.Errorf("Parse(%s, a %s) = %v, want ErrMalformed", asked, made, err)
			}
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	good := secret.New(secret.AccessToken).Reveal()
	token := secret.NewToken(secret.AccessToken, id.New(id.Token, time.Now())).Reveal()
	for name, text := range map[string]string{
		"longer than with an id":  token + "A",
		"shorter than with an id": token[:len(token)-1],
		"space in the id":         token[:10] + " " + token[11:],
		"empty":                   "",
		"prefix alone":            "pk_at_",
		"longer":                  good + "A",
		"shorter":                 good[:len(good)-1],
		"space":                   good[:10] + " " + good[11:],
		"plus":                    good[:10] + "+" + good[11:],
		"NUL":                     good[:10] + "\x00" + good[11:],
		"not UTF-8":               good[:10] + "\xff" + good[11:],
		"no prefix":               good[6:],
		"upper prefix":            "PK_AT_" + good[6:],
		"padded":                  good + "=",
		"huge":                    "pk_at_" + strings.Repeat("A", 1<<20),
	} {
		_, err := secret.Parse(secret.AccessToken, text)
		if !errors.Is(err, secret.ErrMalformed) {
			t.Errorf("%s: %v, want ErrMalformed", name, err)
		}
		if kind, ok := secret.KindOf(text); ok {
			t.Errorf("%s: KindOf says %q", name, kind)
		}
	}
}

// TOK-09: no secret is ever logged, by any of the ways in which values get printed.
func TestSecretNeverShows(t *testing.T) {
	t.Parallel()
	s := secret.Wrap("TOPSECRET")
	type exported struct{ Token secret.Secret }
	type unexported struct{ token secret.Secret }
	type pointer struct{ Token *secret.Secret }
	values := map[string]any{
		"value": s, "pointer": &s, "slice": []secret.Secret{s}, "map": map[string]secret.Secret{"k": s},
		"exported field": exported{s}, "unexported field": unexported{s}, "unexported, behind a pointer": &unexported{s},
		"pointer field": pointer{&s}, "error": fmt.Errorf("bad %v", s),
	}
	var hex bytes.Buffer
	fmt.Fprintf(&hex, "%x", "TOPSECRET")
	check := func(how, printed string) {
		t.Helper()
		for _, leak := range []string{"TOPSECRET", hex.String(), strings.ToUpper(hex.String()), "84 79 80"} {
			if strings.Contains(printed, leak) {
				t.Errorf("%s shows it: %s", how, printed)
			}
		}
	}
	for name, value := range values {
		for _, verb := range []string{
			"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%c", "%U", "%t", "%b", "%o", "%e", "%T", "%p",
			"% x", "%#x", "%+q", "%#q", "%20s", "%-20v", "%.3s", "%w", "%z",
		} {
			check(name+" "+verb, fmt.Sprintf(verb, value))
		}
		check(name+" print", fmt.Sprintln(value))
		var logged bytes.Buffer
		slog.New(slog.NewTextHandler(&logged, nil)).Info("m", "k", value)
		slog.New(slog.NewJSONHandler(&logged, nil)).Info("m", "k", value)
		check(name+" slog", logged.String())
		if b, err := json.Marshal(value); err == nil {
			check(name+" json", string(b))
		}
		if b, err := xml.Marshal(value); err == nil {
			check(name+" xml", string(b))
		}
	}
	if got := fmt.Sprintf("%v %s %x", s, s, s); got != "[secret] [secret] [secret]" {
		t.Errorf("prints %q", got)
	}
	if b, err := json.Marshal(map[string]any{"a": s, "b": &s}); err != nil || string(b) != `{"a":"[secret]","b":"[secret]"}` {
		t.Errorf("marshals %s, %v", b, err)
	}
	if b, err := s.MarshalText(); err != nil || string(b) != "[secret]" {
		t.Errorf("marshals %s, %v", b, err)
	}
	check("diff", cmp.Diff(s, secret.Wrap("other")))
}

func TestSecretEqual(t *testing.T) {
	t.Parallel()
	a, b := secret.New(secret.ClientSecret), secret.New(secret.ClientSecret)
	var none secret.Secret
	for name, row := range map[string]struct {
		x, y secret.Secret
		want bool
	}{
		"itself":     {a, a, true},
		"same text":  {a, secret.Wrap(a.Reveal()), true},
		"another":    {a, b, false},
		"none":       {a, none, false},
		"of none":    {none, a, false},
		"both none":  {none, none, false},
		"empty text": {secret.Wrap(""), secret.Wrap(""), false},
	} {
		if got := row.x.Equal(row.y); got != row.want {
			t.Errorf("%s: Equal = %t", name, got)
		}
	}
	if none.Reveal() != "" || !none.IsZero() || none.String() != "[secret]" || none.GoString() != "[secret]" {
		t.Error("the zero Secret is not empty")
	}
}
