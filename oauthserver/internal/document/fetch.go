// Package document finds clients whose client_id is the URL of a client metadata document, and
// the keys of clients that publish some. A [Directory] reads the store while what it
// fetched is fresh; a [Fetcher] fetches, within budgets for callers and hosts.
package document

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/header"
	"github.com/partnerkit/partnerkit/internal/outbound"
	"github.com/partnerkit/partnerkit/internal/strictjson"
	"github.com/partnerkit/partnerkit/oauthserver/internal/assertion"
	"github.com/partnerkit/partnerkit/oauthserver/internal/clientmetadata"
	"github.com/partnerkit/partnerkit/ratelimit"
)

const (
	timeout         = 5 * time.Second
	defaultMaxBytes = 5 << 10
	// userAgent tells the operator of a document's server who fetches it.
	userAgent = "partnerkit-client-metadata"

	// Fetches in a minute that one caller may cause, and that go to one host for one [Reason],
	// so that this server cannot be used to flood another one.
	perCaller = 30
	perHost   = 60
)

var (
	// ErrUnavailable means that a document cannot be fetched now or is not valid.
	ErrUnavailable = errors.New("client metadata document unavailable")
	// ErrCallerBudget is ErrUnavailable for a caller that has used up its fetches. It
	// says nothing about other callers that wait for the same document.
	ErrCallerBudget = fmt.Errorf("%w: too many fetches by this caller", ErrUnavailable)
)

// Config configures a [Fetcher].
type Config struct {
	Limiter       ratelimit.Limiter
	Rules         Rules
	MaxBytes      int64 // 0 means 5 KiB
	AllowLoopback bool
	Dial          func(ctx context.Context, network, address string) (net.Conn, error)
}

// Rules are the rules for documents of this server.
type Rules struct {
	Scopes            identity.ScopeCatalog
	PrivateUseSchemes []string // of redirect URIs of public clients
	PrivateKeyJWT     bool     // clients may authenticate with keys of their own
}

// Fetcher fetches documents. It is safe for concurrent use.
type Fetcher struct {
	HTTP    *outbound.Client // replaced in tests
	keys    *outbound.Client
	limiter ratelimit.Limiter
	rules   Rules
	policy  outbound.Policy
}

// New returns a fetcher. It starts nothing.
func New(cfg Config) (*Fetcher, error) {
	policy := outbound.Policy{AllowLoopback: cfg.AllowLoopback}
	sending := outbound.Config{
		Policy:                   policy,
		Timeout:                  timeout,
		MaxBody:                  cmp.Or(cfg.MaxBytes, defaultMaxBytes),
		Dial:                     cfg.Dial,
		AnyCertificateOnLoopback: cfg.AllowLoopback,
	}
	client, err := outbound.New(sending)
	if err != nil {
		return nil, err
	}
	sending.MaxBody = assertion.MaxKeysBytes
	keys, err := outbound.New(sending)
	if err != nil {
		return nil, err
	}
	return &Fetcher{HTTP: client, keys: keys, limiter: cfg.Limiter, rules: cfg.Rules, policy: policy}, nil
}

// IsURL reports whether a client_id is the URL of a document that may be fetched.
func (f *Fetcher) IsURL(clientID string) bool { return IsURL(clientID, f.policy) }

// CheckKeysURI returns nil if keys may be fetched from the URL, and otherwise an error with
// the reason.
func (f *Fetcher) CheckKeysURI(raw string) error {
	_, err := f.policy.ParseURL(raw)
	return err
}

// CloseIdle closes the connections that wait for a later request.
func (f *Fetcher) CloseIdle() {
	f.HTTP.CloseIdle()
	f.keys.CloseIdle()
}

// Reason is why something is fetched. For each host, every reason has a counter of its own:
// invented client_ids and key ids cannot use up the fetches that keep known clients fresh.
type Reason string

// The reasons of a fetch.
const (
	NewClient   Reason = "document-host"       // a client_id that is not known yet
	KnownClient Reason = "document-host-known" // what is known of a client is no longer fresh
	UnknownKey  Reason = "document-host-key"   // an assertion names a key that is not known
)

// Caller is the URL of what is needed, and the address that asked for it.
type Caller struct {
	URL    string
	IP     netip.Addr
	Now    time.Time
	Reason Reason
}

// Charge takes one fetch from the caller's budget and, if there was one left, one from the
// host's budget. It returns [ErrCallerBudget], [ErrUnavailable] for the host, or the error
// of the limiter.
func (f *Fetcher) Charge(ctx context.Context, c Caller) error {
	if err := f.take(ctx, c.Now, ratelimit.NewIPKey("document", c.IP), perCaller, ErrCallerBudget); err != nil {
		return err
	}
	u, err := url.Parse(c.URL)
	if err != nil {
		return fmt.Errorf("%w: not a URL", ErrUnavailable)
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".") // for all of its ports together
	return f.take(ctx, c.Now, ratelimit.NewKey(string(c.Reason), host), perHost, fmt.Errorf("%w: too many fetches from this host", ErrUnavailable))
}

func (f *Fetcher) take(ctx context.Context, now time.Time, key ratelimit.Key, perMinute int, exceeded error) error {
	result, err := f.limiter.Check(ctx, now, ratelimit.Request{
		Counters: ratelimit.Counters{{Key: key, Limit: ratelimit.PerMinute(perMinute)}},
	})
	switch {
	case err != nil:
		return fmt.Errorf("document budget: %w", err)
	case !result.Allowed:
		return exceeded
	}
	return nil
}

// Fetch fetches a document and returns what it describes and how long it is fresh. Every
// error is a reason for the operator's log and is caused by the document or its server.
func (f *Fetcher) Fetch(ctx context.Context, clientID string, now time.Time) (clientmetadata.Client, time.Duration, error) {
	var none clientmetadata.Client
	if !f.IsURL(clientID) {
		return none, 0, errors.New("the client_id cannot be a document's URL")
	}
	body, fresh, err := get(ctx, f.HTTP, clientID, now)
	if err != nil {
		return none, 0, err
	}
	client, err := f.Parse(clientID, body)
	return client, fresh, err
}

// FetchKeys fetches a JWK Set and returns it with how long it is fresh. A set that is not valid
// is an error. Errors are those of [Fetcher.Fetch].
func (f *Fetcher) FetchKeys(ctx context.Context, keysURL string, now time.Time) ([]byte, time.Duration, error) {
	body, fresh, err := get(ctx, f.keys, keysURL, now)
	if err != nil {
		return nil, 0, err
	}
	if _, err := assertion.ParseKeys(body); err != nil {
		return nil, 0, fmt.Errorf("jwks_uri %w", err)
	}
	return body, fresh, nil
}

// get fetches JSON and returns it with how long it is fresh.
func get(ctx context.Context, client *outbound.Client, from string, now time.Time) ([]byte, time.Duration, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, 0, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", userAgent)
	res, err := client.Send(req)
	if err != nil {
		return nil, 0, err
	}
	if res.Status != http.StatusOK {
		return nil, 0, fmt.Errorf("status %d", res.Status)
	}
	if !isJSON(header.UTF8Type(res.Header)) {
		return nil, 0, errors.New("the content type is not JSON")
	}
	body, err := res.Whole()
	return body, Freshness(res.Header, now), err
}

func isJSON(media string) bool {
	return media == "application/json" || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")
}

// Parse returns the client that the body of a document describes.
func (f *Fetcher) Parse(clientID string, body []byte) (clientmetadata.Client, error) {
	return parse(clientID, body, f.rules, f.CheckKeysURI)
}

// parse returns the client that the document at the URL clientID describes, named by its host
// if it has no name. A document is written for many servers, so values
// that only other servers support are removed.
func parse(clientID string, body []byte, rules Rules, checkKeysURI func(string) error) (clientmetadata.Client, error) {
	var members map[string]json.RawMessage
	if err := strictjson.Unmarshal(body, &members, strictjson.Limits{}); err != nil {
		return clientmetadata.Client{}, err
	}
	var named string
	if json.Unmarshal(members["client_id"], &named) != nil || named != clientID {
		return clientmetadata.Client{}, errors.New("client_id is not the URL of the document")
	}
	for _, name := range []string{"client_secret", "client_secret_expires_at"} {
		if _, found := members[name]; found { // a document is public
			return clientmetadata.Client{}, fmt.Errorf("a document must not have %s", name)
		}
	}
	u, err := url.Parse(clientID)
	if err != nil {
		return clientmetadata.Client{}, err
	}
	methods := []string{"none"}
	if rules.PrivateKeyJWT {
		methods = append(methods, "private_key_jwt")
	}
	return clientmetadata.Rules{
		Scopes:            rules.Scopes,
		AuthMethods:       methods,
		CheckKeysURI:      checkKeysURI,
		PrivateUseSchemes: rules.PrivateUseSchemes,
		// Token exchange is for confidential clients.
		GrantTypes:      []string{"authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"},
		DefaultName:     u.Host,
		DropUnsupported: true,
	}.Read(members)
}
