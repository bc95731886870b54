package sessiontoken_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/oauthserver/internal/sessiontoken"
)

var noon = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

// memory is a store that one goroutine uses.
type memory struct {
	keys []sessiontoken.Key
	err  error
}

func (m *memory) SigningKeys(_ context.Context, now time.Time) ([]sessiontoken.Key, error) {
	var live []sessiontoken.Key
	for _, key := range m.keys {
		if key.RetireAt.IsZero() || now.Before(key.RetireAt) {
			live = append(live, key)
		}
	}
	return live, m.err
}

func (m *memory) AddSigningKey(_ context.Context, key sessiontoken.Key, after string, retireOlder time.Time) error {
	if n := len(m.keys); n > 0 && m.keys[n-1].ID != after {
		return nil
	}
	for i := range m.keys {
		if m.keys[i].RetireAt.IsZero() {
			m.keys[i].RetireAt = retireOlder
		}
	}
	m.keys = append(m.keys, key)
	return m.err
}

func (m *memory) ResealSigningKey(context.Context, string, []byte, []byte) error { return m.err }

func newKeys(t *testing.T, store sessiontoken.Store) *sessiontoken.Keys {
	t.Helper()
	key, err := keyring.NewKey("", make([]byte, keyring.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	ring, err := keyring.New(key)
	if err != nil {
		t.Fatal(err)
	}
	return &sessiontoken.Keys{Store: store, Keyring: ring, Issuer: "https://api.example.com", Lifetime: time.Minute}
}

func issue(t *testing.T, keys *sessiontoken.Keys, now time.Time) string {
	t.Helper()
	token, err := keys.Issue(t.Context(), "cli_1", sessiontoken.Token{UserID: "usr_1", BusinessID: "biz_1", SessionID: "ses_1", InstallationID: "ins.1"}, now)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestVerify(t *testing.T) {
	t.Parallel()
	store := &memory{}
	keys := newKeys(t, store)
	token := issue(t, keys, noon)
	other := newKeys(t, &memory{})
	for name, test := range map[string]struct {
		keys            *sessiontoken.Keys
		clientID, token string
		now             time.Time
		rejected        bool
	}{
		"TX-02 valid":              {keys, "cli_1", token, noon, false},
		"TX-02 on another node":    {newKeys(t, store), "cli_1", token, noon, false},
		"TX-02 at its last second": {keys, "cli_1", token, noon.Add(time.Minute - time.Millisecond), false},
		"TX-02 expired":            {keys, "cli_1", token, noon.Add(time.Minute), true},
		"TX-02 5 s early":          {keys, "cli_1", token, noon.Add(-5 * time.Second), false},
		"TX-02 6 s early":          {keys, "cli_1", token, noon.Add(-6 * time.Second), true},
		"TX-02 of another app":     {keys, "cli_2", token, noon, true},
		"TX-02 of no app":          {keys, "", token, noon, true},
		"TX-02 of another service": {other, "cli_1", token, noon, true},
		"TX-02 cut":                {keys, "cli_1", token[:len(token)-2], noon, true},
		"TX-02 too long":           {keys, "cli_1", strings.Repeat("a", sessiontoken.MaxLength+1), noon, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := test.keys.Verify(t.Context(), test.clientID, test.token, test.now)
			if _, rejected := errors.AsType[sessiontoken.Rejection](err); rejected != test.rejected || err != nil && !rejected {
				t.Fatal(err)
			}
			if err == nil && (got.UserID != "usr_1" || got.BusinessID != "biz_1" || got.SessionID != "ses_1" || got.InstallationID != "ins.1" ||
				!strings.HasPrefix(got.ID, "ins.1.") || !got.ExpiresAt.Equal(noon.Add(time.Minute))) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestRotate(t *testing.T) {
	t.Parallel()
	store := &memory{}
	keys := newKeys(t, store)
	first := issue(t, keys, noon)
	now := noon.Add(90 * 24 * time.Hour)
	if err := keys.Maintain(t.Context(), now.Add(-time.Millisecond), 90*24*time.Hour); err != nil || len(store.keys) != 1 {
		t.Fatalf("META-04 too early: %d keys, %v", len(store.keys), err)
	}
	if err := keys.Maintain(t.Context(), now, 90*24*time.Hour); err != nil || len(store.keys) != 2 {
		t.Fatalf("META-04 due: %d keys, %v", len(store.keys), err)
	}
	head := func(token string) string { text, _, _ := strings.Cut(token, "."); return text }
	for _, step := range []struct {
		name      string
		at        time.Duration
		published int
		isFirst   bool
	}{
		{"META-04 the new key is published and does not sign", 0, 2, true},
		{"META-04 the last moment of the old key", time.Hour - time.Millisecond, 2, true},
		{"META-04 the new key signs", time.Hour, 2, false},
		{"META-04 tokens of the old key may live", time.Hour + 2*time.Minute - time.Millisecond, 2, false},
		{"META-04 the old key has retired", time.Hour + 2*time.Minute, 1, false},
	} {
		t.Run(step.name, func(t *testing.T) {
			at := now.Add(step.at)
			set, err := keys.KeySet(t.Context(), at)
			if err != nil || len(set.Keys) != step.published {
				t.Errorf("%d keys, %v", len(set.Keys), err)
			}
			if got := head(issue(t, keys, at)) == head(first); got != step.isFirst {
				t.Errorf("signed by the first key: %v", got)
			}
		})
	}
}

func TestStoreErrors(t *testing.T) {
	t.Parallel()
	store := &memory{}
	token := issue(t, newKeys(t, store), noon)
	store.err = errors.New("database is down")
	keys := newKeys(t, store)
	_, verifyErr := keys.Verify(t.Context(), "cli_1", token, noon)
	_, issueErr := keys.Issue(t.Context(), "cli_1", sessiontoken.Token{}, noon)
	for name, err := range map[string]error{
		"verify": verifyErr, "issue": issueErr, "check": keys.Check(t.Context(), noon),
		"rotate": keys.Rotate(t.Context(), noon), "maintain": keys.Maintain(t.Context(), noon, 0),
	} {
		if _, rejected := errors.AsType[sessiontoken.Rejection](err); rejected || !errors.Is(err, store.err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
