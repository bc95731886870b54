package oauthserver_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/harness"
	"github.com/partnerkit/partnerkit/internal/lifetimes"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
)

const (
	leadTime  = time.Hour
	afterlife = 2 * time.Minute
)

// keySet reads a node's key set over HTTP.
func keySet(t testing.TB, s *oauthserver.Server) jose.JSONWebKeySet {
	t.Helper()
	web := httptest.NewServer(s.KeySetHandler())
	defer web.Close()
	var set jose.JSONWebKeySet
	if err := json.NewDecoder(documentGet(t, web.URL).Body).Decode(&set); err != nil {
		t.Fatal(err)
	}
	return set
}

func kids(set jose.JSONWebKeySet) []string {
	var list []string
	for _, key := range set.Keys {
		list = append(list, key.KeyID)
	}
	return list
}

// signedBy is the kid of a token that was issued now.
func (r *documentHarness) signedBy(t testing.TB, s *oauthserver.Server, m oauthserver.NewSessionToken) string {
	t.Helper()
	token := r.issue(t, s, m)
	signed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	return signed.Signatures[0].Header.KeyID
}

func (r *documentHarness) issue(t testing.TB, s *oauthserver.Server, m oauthserver.NewSessionToken) string {
	t.Helper()
	token, err := s.IssueSessionToken(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// embedded returns an installed app and the request for one of its session tokens.
func (r *documentHarness) embedded(t testing.TB) (partner.App, oauthserver.NewSessionToken) {
	t.Helper()
	app := r.app(t, nil)
	r.install(t, app, "biz_1", "usr_1")
	return app, oauthserver.NewSessionToken{AppID: app.ID, BusinessID: "biz_1", UserID: "usr_1", SessionID: "ses_1"}
}

// META-03: JSON, cacheable for an hour at most, public members only; and with it
// alone a stranger verifies a session token.
func TestKeySet_META03(t *testing.T) {
	t.Parallel()
	r := newDocumentHarness(t, nil)
	_, m := r.embedded(t)
	token := r.issue(t, r.Server, m)

	web := httptest.NewServer(r.KeySetHandler())
	defer web.Close()
	res := documentGet(t, web.URL)
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "application/json" || res.Header.Get("Cache-Control") != "public, max-age=900" {
		t.Errorf("%d %q %q", res.StatusCode, res.Header.Get("Content-Type"), res.Header.Get("Cache-Control"))
	}
	var raw struct {
		Keys []map[string]string `json:"keys"`
	}
	if err := json.Unmarshal(body, &raw); err != nil || len(raw.Keys) != 1 {
		t.Fatalf("%s: %v", body, err)
	}
	got := raw.Keys[0]
	for _, coordinate := range []string{"x", "y"} {
		if len(got[coordinate]) != 43 {
			t.Errorf("%s has %d characters, want all 32 bytes", coordinate, len(got[coordinate]))
		}
	}
	want := map[string]string{"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": got["kid"], "x": got["x"], "y": got["y"]}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}

	var set jose.JSONWebKeySet
	if err := json.Unmarshal(body, &set); err != nil {
		t.Fatal(err)
	}
	signed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := signed.Verify(set); err != nil {
		t.Errorf("the published key does not verify: %v", err)
	}
}

// META-04: N first uses on as many nodes make one key, which signs at once.
func TestFirstKeyHasOneMaker_META04(t *testing.T) {
	t.Parallel()
	for range testenv.Rounds(5, 200) {
		r := newDocumentHarness(t, nil)
		_, m := r.embedded(t)
		const n = 16
		nodes := make([]*oauthserver.Server, n)
		for i := range nodes {
			nodes[i] = r.node(t, nil)
		}
		errs, signers := make([]error, n), make([]string, n)
		testdb.Race(n, func(i int) {
			if i%2 == 0 {
				errs[i] = nodes[i].RotateSigningKey(t.Context())
				return
			}
			token, err := nodes[i].IssueSessionToken(t.Context(), m)
			errs[i] = err
			if signed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.ES256}); err == nil {
				signers[i] = signed.Signatures[0].Header.KeyID
			}
		})
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		keys, err := r.env.SigningKeys(t.Context(), r.clock.Now())
		if err != nil || len(keys) == 0 {
			t.Fatalf("%d keys, %v", len(keys), err)
		}
		if keys[0].ActiveAt != harness.Start {
			t.Errorf("the first key signs from %v", keys[0].ActiveAt)
		}
		for i, key := range keys[1:] {
			if key.ActiveAt.Before(harness.Start.Add(leadTime)) {
				t.Errorf("key %d signs from %v, without lead time", i+2, key.ActiveAt)
			}
		}
		for i, kid := range signers {
			if i%2 == 1 && kid != keys[0].ID {
				t.Errorf("node %d signed with %s, the first key is %s", i, kid, keys[0].ID)
			}
		}
	}
}

// META-04: published from its creation, signs from its lead time on, published
// until the last token of its predecessor has expired. On two nodes.
func TestRotation_META04(t *testing.T) {
	t.Parallel()
	r := newDocumentHarness(t, nil)
	app, m := r.embedded(t)
	other := r.node(t, nil)
	first := r.signedBy(t, r.Server, m)
	if got := r.signedBy(t, other, m); got != first {
		t.Fatalf("two nodes sign with %s and %s", first, got)
	}
	if err := r.RotateSigningKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	published := kids(keySet(t, r.Server))
	if len(published) != 2 || published[0] != first {
		t.Fatalf("published %v after %s", published, first)
	}
	second := published[1]

	r.clock.Advance(time.Second)
	if diff := cmp.Diff(published, kids(keySet(t, other))); diff != "" {
		t.Errorf("the other node, a second later (-want +got):\n%s", diff)
	}
	r.clock.Advance(leadTime - 2*time.Second) // the second before it signs
	for _, node := range []*oauthserver.Server{r.Server, other} {
		if got := r.signedBy(t, node, m); got != first {
			t.Errorf("before its lead time is over %s signs", got)
		}
	}
	old := r.issue(t, r.Server, m)
	r.clock.Advance(time.Second)
	for _, node := range []*oauthserver.Server{r.Server, other} {
		if got := r.signedBy(t, node, m); got != second {
			t.Errorf("after its lead time %s signs, want %s", got, second)
		}
	}

	// The last token of the first key, until its last second.
	r.clock.Advance(lifetimes.SessionToken - 2*time.Second)
	verify := func() error {
		_, err := other.VerifySessionToken(t.Context(), app, old, r.clock.Now())
		return err
	}
	if err := verify(); err != nil {
		t.Errorf("a second before it expires: %v", err)
	}
	if !slices.Contains(kids(keySet(t, other)), first) {
		t.Error("the key of a live token is not published")
	}
	r.clock.Advance(time.Second)
	if verify() == nil {
		t.Error("accepted when it has expired")
	}

	r.clock.Advance(harness.Start.Add(leadTime + afterlife - time.Second).Sub(r.clock.Now()))
	if diff := cmp.Diff([]string{first, second}, kids(keySet(t, other))); diff != "" {
		t.Errorf("a second before it retires (-want +got):\n%s", diff)
	}
	r.clock.Advance(time.Second / 2)
	keySet(t, r.Server) // so that it remembers the key when it retires
	r.clock.Advance(time.Second / 2)
	for _, node := range []*oauthserver.Server{r.Server, other} {
		if diff := cmp.Diff([]string{second}, kids(keySet(t, node))); diff != "" {
			t.Errorf("retired (-want +got):\n%s", diff)
		}
	}
}

// META-04: no node ever signs with a key that another node does not publish. Rotations at
// the same instant, or by a node whose clock is behind, keep their order.
func TestRotations_META04(t *testing.T) {
	t.Parallel()
	r := newDocumentHarness(t, nil)
	app, m := r.embedded(t)
	other := r.node(t, nil)
	r.signedBy(t, other, m) // it remembers one key
	for range 5 {
		if err := r.RotateSigningKey(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	keys, err := r.env.SigningKeys(t.Context(), r.clock.Now())
	if err != nil || len(keys) != 6 {
		t.Fatalf("%d keys, %v", len(keys), err)
	}
	for i := range keys[1:] {
		if keys[i].ID >= keys[i+1].ID || !keys[i].ActiveAt.Before(keys[i+1].ActiveAt) || !keys[i].CreatedAt.Before(keys[i+1].CreatedAt) {
			t.Errorf("keys %d and %d are not in order: %+v, %+v", i, i+1, keys[i], keys[i+1])
		}
	}
	for range 200 { // in steps across all changes, and then by days
		r.clock.Advance(37 * time.Second)
		for _, pair := range [][2]*oauthserver.Server{{r.Server, other}, {other, r.Server}} {
			token := r.issue(t, pair[0], m)
			if _, err := pair[1].VerifySessionToken(t.Context(), app, token, r.clock.Now()); err != nil {
				t.Fatalf("at %v: %v", r.clock.Now().Sub(harness.Start), err)
			}
		}
	}
	for range 5 {
		r.clock.Advance(9 * 24 * time.Hour)
		if got := r.signedBy(t, other, m); got != keys[5].ID {
			t.Errorf("days later %s signs", got)
		}
	}
}

// META-04: of rotations at the same time one happens, and none fails.
func TestConcurrentRotations_META04(t *testing.T) {
	t.Parallel()
	for range testenv.Rounds(5, 200) {
		r := newDocumentHarness(t, nil)
		keySet(t, r.Server)
		const n = 8
		errs := make([]error, n)
		testdb.Race(n, func(i int) { errs[i] = r.RotateSigningKey(t.Context()) })
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		keys, err := r.env.SigningKeys(t.Context(), r.clock.Now())
		if err != nil {
			t.Fatal(err)
		}
		young := 0
		for _, key := range keys {
			if key.RetireAt.IsZero() {
				young++
			}
		}
		if young != 1 || len(keys) < 2 {
			t.Errorf("%d keys, %d of them without an end", len(keys), young)
		}
	}
}

// Private keys are sealed for their own row and cannot be opened in another one. A host
// without the key gets an internal error instead of an incomplete key set.
func TestKeysAreSealed(t *testing.T) {
	t.Parallel()
	r := newDocumentHarness(t, nil)
	keySet(t, r.Server)
	keys, err := r.env.SigningKeys(t.Context(), r.clock.Now())
	if err != nil || len(keys) != 1 {
		t.Fatal(len(keys), err)
	}
	if _, err := r.cfg.Keyring.Open(keyring.Place{Table: "partnerkit_signing_key", Row: keys[0].ID}, keys[0].Sealed); err != nil {
		t.Error(err)
	}
	if _, err := r.cfg.Keyring.Open(keyring.Place{Table: "partnerkit_signing_key", Row: "key_other"}, keys[0].Sealed); err == nil {
		t.Error("the key opens in another row")
	}
	stranger := fixture.Keyring(9)
	node := r.node(t, func(c *oauthserver.Config) { c.Keyring = stranger })
	web := httptest.NewServer(node.KeySetHandler())
	defer web.Close()
	if res := documentGet(t, web.URL); res.StatusCode != http.StatusInternalServerError || strings.Contains(res.Header.Get("Cache-Control"), "public") {
		t.Errorf("%d %q", res.StatusCode, res.Header.Get("Cache-Control"))
	}
	// Rotation is the way out, so it works.
	if err := node.RotateSigningKey(t.Context()); err != nil {
		t.Error(err)
	}
	r.clock.Advance(leadTime + afterlife)
	if got := kids(keySet(t, node)); len(got) != 1 {
		t.Errorf("published %v", got)
	}
}

// A storage error at any statement is an internal error.
func TestKeyFaults(t *testing.T) {
	t.Parallel()
	for n := 1; ; n++ {
		r := newDocumentHarness(t, nil)
		r.env.Tap.Arm(testdb.FaultError, n)
		err := r.RotateSigningKey(t.Context())
		if !r.env.Tap.Struck() {
			if n < 3 {
				t.Errorf("only %d statements", n-1)
			}
			return
		}
		if !errors.Is(err, oauthserver.ErrInternal) || !errors.Is(err, testdb.ErrInjected) {
			t.Errorf("statement %d: %v", n, err)
		}
		if got := kids(keySet(t, r.Server)); len(got) != 1 {
			t.Errorf("afterwards: %v", got)
		}
	}
}

// The list of keys is read every 30 seconds, not for each token. An unknown kid costs at
// most one read per second, and a malformed kid costs none.
func TestKeyReadings(t *testing.T) {
	t.Parallel()
	r := newDocumentHarness(t, nil)
	app, m := r.embedded(t)
	token := r.issue(t, r.Server, m)
	verifier := r.Server
	count := func(token string) int {
		r.env.Tap.Reset()
		_, _ = verifier.VerifySessionToken(t.Context(), app, token, r.clock.Now())
		n, _ := r.env.Tap.Counts()
		return n
	}
	header, rest, _ := strings.Cut(token, ".")
	unknown := forgeHeader(t, header, func(h map[string]any) {
		kid := h["kid"].(string)
		h["kid"] = kid[:len(kid)-4] + "0000"
	}) + "." + rest
	malformed := forgeHeader(t, header, func(h map[string]any) { h["kid"] = "../../etc/passwd" }) + "." + rest

	steps := []struct {
		name    string
		advance time.Duration
		token   string
		want    int
	}{
		{"remembered", 0, token, 0},
		{"unknown, the list is new", 0, unknown, 0},
		{"unknown, the list is a second old", time.Second, unknown, 1},
		{"unknown again", 0, unknown, 0},
		{"malformed", time.Second, malformed, 0},
		{"half a minute but a second", 28 * time.Second, token, 0},
		{"half a minute", time.Second, token, 1},
	}
	for _, step := range steps {
		r.clock.Advance(step.advance)
		if got := count(step.token); got != step.want {
			t.Errorf("%s: %d statements, want %d", step.name, got, step.want)
		}
	}
}
