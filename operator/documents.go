package operator

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
)

// maxHost is how long the host of trusted documents may be.
const maxHost = 512

// TrustedDocuments lists the hosts whose client metadata documents count as reviewed,
// oldest first, each by its normalized name; see oauthserver.NormalizeTrust.
func (o *Operator) TrustedDocuments(ctx context.Context, _ Actor) ([]consolestore.TrustedDocument, error) {
	stored, err := o.cfg.Store.TrustedDocuments(ctx)
	if err != nil {
		return nil, err
	}
	var distinct []consolestore.TrustedDocument
	for _, one := range stored {
		one.Host = trustName(one.Host)
		if !slices.ContainsFunc(distinct, func(d consolestore.TrustedDocument) bool { return d.Host == one.Host }) {
			distinct = append(distinct, one)
		}
	}
	return distinct, nil
}

// trustName returns the normalized name of trusted documents. Earlier versions stored names
// as they were entered, several spellings of one name included.
func trustName(host string) string {
	name, err := oauthserver.NormalizeTrust(host)
	if err != nil {
		return host
	}
	return name
}

// checkTrust returns a validation error that names everything that is wrong.
func checkTrust(host, reason string) error {
	var v apierror.Validation
	checkNote(&v, "reason", reason)
	if _, err := oauthserver.NormalizeTrust(host); err != nil || len(host) > maxHost {
		v.Add("host", "must be a host such as agent.example, or the beginning of an https URL")
	}
	return v.Err()
}

// TrustDocuments lets the client metadata documents of a host, or below an https URL, count
// as reviewed. Its error is one of apierror: 409 when they do already, or what is wrong.
func (o *Operator) TrustDocuments(ctx context.Context, by Actor, host, reason string) (consolestore.TrustedDocument, error) {
	if err := checkTrust(host, reason); err != nil {
		return consolestore.TrustedDocument{}, err
	}
	host = trustName(host)
	now := o.cfg.Clock.Now()
	trusted := consolestore.TrustedDocument{ID: id.New(id.TrustedDocument, now), Host: host, CreatedAt: now}
	err := o.change(ctx, func(ctx context.Context) (audit.Entry, error) {
		all, err := o.TrustedDocuments(ctx, by)
		if err != nil {
			return audit.Entry{}, err
		}
		if slices.ContainsFunc(all, func(d consolestore.TrustedDocument) bool { return d.Host == host }) {
			return audit.Entry{}, consolestore.ErrTrusted
		}
		entry := by.did(audited.DocumentTrustAdded, reason)
		entry.Target = host
		return entry, o.cfg.Store.AddTrustedDocument(ctx, trusted)
	})
	if errors.Is(err, consolestore.ErrTrusted) {
		taken := apierror.Entry{Code: codes.Conflict.Code, Status: http.StatusConflict, Message: "the documents of {p0} are trusted already"}
		return consolestore.TrustedDocument{}, taken.New(host)
	}
	return trusted, err
}

// DistrustDocuments ends the trust in the documents that an id or a name names, the name in any
// spelling. Its error is one of apierror, 404 when there is none.
func (o *Operator) DistrustDocuments(ctx context.Context, by Actor, idOrName string) error {
	err := o.change(ctx, func(ctx context.Context) (audit.Entry, error) {
		stored, err := o.cfg.Store.TrustedDocuments(ctx)
		if err != nil {
			return audit.Entry{}, err
		}
		name := trustName(idOrName)
		for _, one := range stored {
			if one.ID == idOrName {
				name = trustName(one.Host)
			}
		}
		entry := by.did(audited.DocumentTrustRemoved, "")
		err = partner.ErrNotFound
		for _, one := range stored {
			if trustName(one.Host) != name {
				continue
			}
			entry.Target = name
			if _, err = o.cfg.Store.RemoveTrustedDocument(ctx, one.ID); err != nil {
				break
			}
		}
		return entry, err
	})
	return absent("trusted document", err)
}

// DocumentPolicy returns a policy for client metadata documents: what the host's own policy
// says, and where it says nothing, whether an operator trusts the document's host. A change
// takes effect on the next request. The host's policy may be nil.
func DocumentPolicy(store consolestore.Store, own oauthserver.DocumentPolicy) oauthserver.DocumentPolicy {
	return func(ctx context.Context, url string) (oauthserver.DocumentTrust, error) {
		var trust oauthserver.DocumentTrust
		if own != nil {
			var err error
			if trust, err = own(ctx, url); err != nil || trust.Review != "" {
				return trust, err
			}
		}
		trusted, err := store.TrustedDocuments(ctx)
		if err != nil {
			return oauthserver.DocumentTrust{}, err
		}
		for _, one := range trusted {
			policy, err := oauthserver.TrustDocuments(one.Host)
			if err != nil {
				return oauthserver.DocumentTrust{}, err
			}
			if found, err := policy(ctx, url); err != nil || found.Review != "" {
				found.OrganizationID = trust.OrganizationID
				return found, err
			}
		}
		return trust, nil
	}
}
