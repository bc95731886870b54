package oauthserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/internal/outbound"
	"github.com/partnerkit/partnerkit/ratelimit"
)

const (
	documentTimeout  = 5 * time.Second
	documentMaxBytes = 5 << 10

	// Fetches in a minute that one caller may cause, and that go to one host,
	// whoever causes them: nobody makes us hammer somebody else's server. Known
	// clients have a pot of their own for each host, so that made-up client ids
	// cannot use up what those need to stay fresh.
	documentsPerIP   = 30
	documentsPerHost = 60
)

// errBudget is errDocument for a caller that has used up its fetches. Others who
// wait for the same document must not suffer for it.
var errBudget = fmt.Errorf("%w: too many fetches by this caller", errDocument)

// documentPolicy says which URLs can be those of documents.
func documentPolicy(cfg DocumentConfig) outbound.Policy {
	return outbound.Policy{AllowLoopback: cfg.AllowLoopback}
}

// documentClient is the guarded client that documents are fetched with.
func documentClient(cfg DocumentConfig) (*outbound.Client, error) {
	client, err := outbound.New(outbound.Config{
		Policy:                   documentPolicy(cfg),
		Timeout:                  documentTimeout,
		MaxBody:                  cmp.Or(cfg.MaxBytes, documentMaxBytes),
		Dial:                     cfg.Dial,
		AnyCertificateOnLoopback: cfg.AllowLoopback,
	})
	if err != nil {
		return nil, fmt.Errorf("oauthserver: Config.Documents: %w", err)
	}
	return client, nil
}

// charge takes one fetch from the caller's budget and, only if there was one, one
// from the host's: a caller who is refused costs the host nothing.
func (d *documents) charge(ctx context.Context, l lookup, known bool) error {
	allowed, err := d.take(ctx, l.now, ratelimit.NewIPKey("document", l.ip), documentsPerIP)
	if err != nil {
		return err
	}
	if !allowed {
		return errBudget
	}
	u, err := url.Parse(l.clientID)
	if err != nil {
		return fmt.Errorf("%w: client_id is no URL", errDocument)
	}
	pot := "document-host"
	if known {
		pot = "document-host-known"
	}
	// Without the port: the host has one network connection for all of them.
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	allowed, err = d.take(ctx, l.now, ratelimit.NewKey(pot, host), documentsPerHost)
	if err != nil {
		return err
	}
	if !allowed {
		return fmt.Errorf("%w: too many fetches from this host", errDocument)
	}
	return nil
}

func (d *documents) take(ctx context.Context, now time.Time, key ratelimit.Key, perMinute int) (bool, error) {
	result, err := d.limiter.Check(ctx, now, ratelimit.Request{
		Counters: ratelimit.Counters{{Key: key, Limit: ratelimit.PerMinute(perMinute)}},
	})
	if err != nil {
		return false, fmt.Errorf("%w: document budget: %w", ErrInternal, err)
	}
	return result.Allowed, nil
}

// fetch gets the document's bytes and headers. Every error is a reason for the
// operator's log.
func (d *documents) fetch(ctx context.Context, clientID string) (*outbound.Response, error) {
	if !d.isClientID(clientID) {
		return nil, errors.New("the client_id cannot be a document's URL")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, clientID, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	res, err := d.http.Send(req)
	if err != nil {
		return nil, err
	}
	if res.Status != http.StatusOK {
		return nil, fmt.Errorf("status %d", res.Status)
	}
	if !isDocumentType(res.Header) {
		return nil, errors.New("the content type is not JSON")
	}
	_, err = res.Whole()
	return res, err
}

// isDocumentType wants one content type, application/json or one that is built on
// it, in UTF-8 and not compressed.
func isDocumentType(h http.Header) bool {
	if len(h.Values("Content-Type")) != 1 {
		return false
	}
	media, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		return false
	}
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return false
	}
	if encoding := h.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return false
	}
	built := strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")
	return media == "application/json" || built
}
