package oauthserver

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/partnerkit/partnerkit/oauthserver/internal/uri"
)

// DocumentReview determines the businesses to which the app of a client metadata document
// can be connected.
type DocumentReview string

// The values of DocumentReview.
const (
	// DocumentSandbox: the app can be connected like one that has not completed review,
	// unless [Server.SetReviewed] completed its review.
	DocumentSandbox DocumentReview = ""
	// DocumentReviewed: the app can be connected like one that has completed review.
	DocumentReviewed DocumentReview = "reviewed"
	// DocumentRefused: the client_id is unknown. The document is not fetched.
	DocumentRefused DocumentReview = "refused"
)

// DocumentTrust is how far the host trusts a client metadata document.
type DocumentTrust struct {
	Review DocumentReview
	// OrganizationID is the organization in whose sandbox businesses the app can be
	// connected while it is not reviewed; empty: Options.Unowned decides.
	OrganizationID string
}

// DocumentPolicy returns how far the host trusts the client metadata document at a URL. It is
// called whenever the app asks for consent or authenticates, so a change takes effect on the
// next request; tokens that were issued before stay valid until they expire or the app is
// suspended. It must be fast and safe for concurrent use. If it returns an error, the response
// is an internal error and nothing is granted.
type DocumentPolicy func(ctx context.Context, url string) (DocumentTrust, error)

// TrustDocuments returns a policy by which the documents that an entry names count as
// reviewed. An entry is a host, such as "agent.example" or "agent.example:8443", or the
// beginning of an https URL, such as "https://agent.example/clients", which names the URL
// itself and everything below its path. A URL without a path is the same as its host. A host
// stands for one port: the default one if it has none. It does not stand for its subdomains.
func TrustDocuments(entries ...string) (DocumentPolicy, error) {
	trusted := make([]trustedDocuments, 0, len(entries))
	for _, entry := range entries {
		t, err := parseTrusted(entry)
		if err != nil {
			return nil, fmt.Errorf("oauthserver: %q %w", entry, err)
		}
		trusted = append(trusted, t)
	}
	return func(_ context.Context, documentURL string) (DocumentTrust, error) {
		u, err := url.Parse(documentURL)
		if err != nil {
			return DocumentTrust{}, nil //nolint:nilerr // not a URL: not trusted
		}
		for _, t := range trusted {
			if t.includes(u) {
				return DocumentTrust{Review: DocumentReviewed}, nil
			}
		}
		return DocumentTrust{}, nil
	}, nil
}

// trustedDocuments are the documents at or below a path of a host.
type trustedDocuments struct {
	scheme string // empty: any, for a host and for an https URL without a path
	host   string // in lower case, without the default port
	path   string // encoded; empty: every path
}

func parseTrusted(entry string) (trustedDocuments, error) {
	const want = "is not a host such as agent.example, nor the beginning of an https URL"
	raw := "https://" + entry
	scheme, rest, isURL := strings.Cut(entry, "://")
	if isURL {
		raw = strings.ToLower(scheme) + "://" + rest
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Opaque != "" || u.User != nil || u.String() != raw || strings.ContainsAny(raw, "?#@*\\ "):
		return trustedDocuments{}, errors.New(want)
	case !isURL && u.Path != "":
		return trustedDocuments{}, errors.New(want + "; write a path with https:// in front")
	case strings.HasSuffix(u.Hostname(), "."):
		return trustedDocuments{}, errors.New("has a host that ends with a dot")
	case !uri.IsPage(raw): // https, or http on loopback, with a plain host and port
		return trustedDocuments{}, errors.New(want)
	case uri.HasDotSegment(u.EscapedPath()):
		return trustedDocuments{}, errors.New("has a path with dot segments")
	}
	t := trustedDocuments{host: defaultPortRemoved(u)}
	if path := u.EscapedPath(); path != "/" {
		t.path = path
	}
	if u.Scheme != "https" || t.path != "" { // an https URL without a path is its host
		t.scheme = u.Scheme
	}
	return t, nil
}

// name returns the entry in its one spelling.
func (t trustedDocuments) name() string {
	if t.scheme == "" {
		return t.host
	}
	return t.scheme + "://" + t.host + t.path
}

// NormalizeTrust returns the one spelling of an entry of [TrustDocuments], such as
// "agent.example" for "https://Agent.example:443/", so that a list has each entry once.
func NormalizeTrust(entry string) (string, error) {
	t, err := parseTrusted(entry)
	if err != nil {
		return "", fmt.Errorf("oauthserver: %q %w", entry, err)
	}
	return t.name(), nil
}

// includes reports whether the document at u is one of them. The end of the path must be the
// end of a segment: /clients does not include /clients-of-others.
func (t trustedDocuments) includes(u *url.URL) bool {
	if u.User != nil || u.Opaque != "" || t.scheme != "" && t.scheme != u.Scheme || t.host != defaultPortRemoved(u) {
		return false
	}
	rest, ok := strings.CutPrefix(u.EscapedPath(), t.path)
	return ok && !uri.HasDotSegment(u.EscapedPath()) && (rest == "" || rest[0] == '/' || t.path == "" || strings.HasSuffix(t.path, "/"))
}

// defaultPortRemoved returns host and port of a URL as an origin has them.
func defaultPortRemoved(u *url.URL) string {
	_, host, _ := strings.Cut(uri.Origin(u), "://")
	return host
}
