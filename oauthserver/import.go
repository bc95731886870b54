package oauthserver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/oauthserver/internal/foreigndigest"
	"github.com/partnerkit/partnerkit/oauthserver/internal/uri"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// Import is a batch of records of another OAuth server. A batch may have any of them; what a
// record names comes before it, or was imported earlier.
type Import struct {
	Apps          []ImportedApp
	Installations []ImportedInstallation
	Consents      []ImportedConsent
}

// ImportedApp is an app with the client_id that it has. It counts as reviewed.
type ImportedApp struct {
	ClientID       string // not a URL
	Type           partner.ClientType
	Name           string
	OrganizationID string
	RedirectURIs   []string
	Scopes         identity.Scopes
	AppURL         string
	// Secrets are digests of the client secrets of a CONFIDENTIAL app, at most
	// [partner.MaxClientSecrets]: SHA-256 in 64 hexadecimal digits, bcrypt up to cost 12, or
	// PBKDF2 up to 600,000 rounds as $pbkdf2-sha256$i=<rounds>,l=<length>$<salt>$<key>, with
	// salt and key in base64 without padding, also with sha512. A digest of the latter two is
	// replaced when its secret is used for the first time.
	Secrets   []string
	CreatedAt time.Time // zero: now
}

// ImportedInstallation is an app that a business has connected. Its app is not told.
type ImportedInstallation struct {
	ClientID, BusinessID string
	Scopes               identity.Scopes
	CreatedAt            time.Time // zero: now
}

// ImportedConsent is a user's consent to an app in a business that has connected it.
type ImportedConsent struct {
	ClientID, BusinessID, UserID string
	Scopes                       identity.Scopes
	CreatedAt                    time.Time // zero: now
}

// ImportReport is what became of a batch.
type ImportReport struct {
	Apps, Installations, Consents int // that were imported
	Skipped                       []SkippedRecord
}

// SkippedRecord is a record that was not imported.
type SkippedRecord struct {
	Kind                         string // app, installation or consent
	ClientID, BusinessID, UserID string
	Reason                       string
}

// Import adds records of another OAuth server. A record that exists, or has ended, is skipped and
// reported, and so is one that is not valid or lacks the record that it names. Each record is one
// transaction: an import that stopped with an error is continued by calling Import again with the
// same batch.
func (s *Server) Import(ctx context.Context, batch Import) (ImportReport, error) {
	var report ImportReport
	now := s.cfg.Clock.Now().Truncate(time.Millisecond)
	note := func(err error, imported *int, skipped SkippedRecord) error {
		refused, isInvalid := errors.AsType[*apierror.Error](err)
		switch {
		case err == nil:
			*imported++
			return nil
		case isInvalid:
			skipped.Reason = refused.Error()
		case errors.Is(err, oauthstore.ErrExists):
			skipped.Reason = oauthstore.ErrExists.Error()
		case errors.Is(err, oauthstore.ErrEnded):
			skipped.Reason = oauthstore.ErrEnded.Error()
		case errors.Is(err, partner.ErrNotFound):
			skipped.Reason = "what it belongs to does not exist, or has ended"
		default:
			return fmt.Errorf("import %s of %s: %w", skipped.Kind, skipped.ClientID, err)
		}
		report.Skipped = append(report.Skipped, skipped)
		return nil
	}
	for _, a := range batch.Apps {
		if err := note(s.importApp(ctx, a, now), &report.Apps, SkippedRecord{Kind: "app", ClientID: a.ClientID}); err != nil {
			return report, err
		}
	}
	for _, i := range batch.Installations {
		err := checkImported(i.Scopes, i.ClientID, i.BusinessID)
		if err == nil {
			created := timeOr(i.CreatedAt, now)
			err = s.cfg.Store.ImportInstallation(ctx, i.ClientID, partner.Installation{
				ID: id.New(id.Installation, created), BusinessID: i.BusinessID, Status: partner.InstallationActive, Scopes: i.Scopes, CreatedAt: created,
			})
		}
		if err := note(err, &report.Installations, SkippedRecord{Kind: "installation", ClientID: i.ClientID, BusinessID: i.BusinessID}); err != nil {
			return report, err
		}
	}
	for _, g := range batch.Consents {
		err := checkImported(g.Scopes, g.ClientID, g.BusinessID, g.UserID)
		if err == nil && (g.UserID == partner.ErasedUser || g.BusinessID == partner.ErasedBusiness) {
			err = oauthstore.ErrEnded
		}
		if err == nil {
			created := timeOr(g.CreatedAt, now)
			err = s.cfg.Store.ImportConsent(ctx, g.ClientID, g.BusinessID, oauthstore.Grant{ID: id.New(id.Grant, created), UserID: g.UserID, Scopes: g.Scopes, CreatedAt: created})
		}
		if err := note(err, &report.Consents, SkippedRecord{Kind: "consent", ClientID: g.ClientID, BusinessID: g.BusinessID, UserID: g.UserID}); err != nil {
			return report, err
		}
	}
	return report, nil
}

func timeOr(t, other time.Time) time.Time {
	if t.IsZero() {
		return other
	}
	return t.Truncate(time.Millisecond)
}

// maxImportedID is the maximum length of an id that is imported.
const maxImportedID = 256

// checkImported returns a validation error unless all ids can be stored and there are scopes.
func checkImported(scopes identity.Scopes, ids ...string) error {
	for _, one := range ids {
		if one == "" || len(one) > maxImportedID || !text.IsStorable(one) {
			return apierror.Invalid(fmt.Sprintf("an id must have 1 to %d bytes of UTF-8 without NUL", maxImportedID))
		}
	}
	if scopes.IsEmpty() {
		return apierror.Invalid("scopes must not be empty")
	}
	return nil
}

func (s *Server) importApp(ctx context.Context, a ImportedApp, now time.Time) error {
	var v apierror.Validation
	if err := v.Include(s.CheckApp(NewApp{Name: a.Name, Type: a.Type, OrganizationID: a.OrganizationID, RedirectURIs: a.RedirectURIs, Scopes: a.Scopes, AppURL: a.AppURL})); err != nil {
		return err
	}
	if len(a.ClientID) > maxImportedID || !text.IsVisible(a.ClientID) || a.ClientID == "" || strings.Contains(a.ClientID, "://") {
		v.Add("clientId", "must have 1 to %d printable ASCII characters without spaces, and not be a URL", maxImportedID)
	}
	if len(a.Secrets) > partner.MaxClientSecrets || a.Type == partner.Public && len(a.Secrets) > 0 {
		v.Add("secrets", "must be at most %d, and none for a PUBLIC app", partner.MaxClientSecrets)
	}
	created := timeOr(a.CreatedAt, now)
	app := partner.App{
		ID: id.New(id.App, created), ClientID: a.ClientID, Type: a.Type, Status: partner.AppActive, Origin: partner.OriginConsole, Name: a.Name, OrganizationID: a.OrganizationID,
		Reviewed: true, RedirectURIs: uri.Distinct(a.RedirectURIs), Scopes: a.Scopes, AppURL: a.AppURL, CreatedAt: created, Version: 1,
	}
	app.ReviewedAs = app.Profile()
	var secrets []partner.ClientSecret
	var foreign []oauthstore.ForeignSecret
	for i, encoded := range a.Secrets {
		digest, err := foreigndigest.Parse(encoded)
		if err != nil {
			v.Add(fmt.Sprintf("secrets[%d]", i), "%v", err)
			continue
		}
		one := partner.ClientSecret{ID: id.New(id.Secret, created), AppID: app.ID, CreatedAt: created}
		if digest.SHA256 != nil {
			one.Digest = *digest.SHA256
		} else {
			_, _ = rand.Read(one.Digest[:]) // nobody knows a text with it
			foreign = append(foreign, oauthstore.ForeignSecret{SecretID: one.ID, Digest: encoded})
		}
		secrets = append(secrets, one)
	}
	if err := v.Err(); err != nil {
		return err
	}
	err := s.cfg.Store.ImportApp(ctx, app, secrets, foreign)
	if errors.Is(err, oauthstore.ErrTaken) {
		return oauthstore.ErrExists
	}
	return err
}

// ForeignToken is a refresh token that does not have our form, and the client that presents it.
type ForeignToken struct {
	ClientID string // which has authenticated
	Token    string
}

// ForeignGrant is what a refresh token of another server stands for. The app is installed in the
// business and has the user's consent, both of which can be imported; see [Server.Import].
type ForeignGrant struct {
	BusinessID string
	UserID     string
	Scopes     identity.Scopes
	ExpiresAt  time.Time
}
