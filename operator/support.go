package operator

import (
	"context"
	"net/http"

	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/stamp"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/partner"
)

// look records that an operator looks at something of an app, before anything is shown. Its error
// is one of apierror, 404 when there is no such app.
func (o *Operator) look(ctx context.Context, by Actor, appID string, action audit.Action) error {
	if _, err := o.cfg.Store.App(ctx, appID); err != nil {
		return absent("app", err)
	}
	return o.change(ctx, func(context.Context) (audit.Entry, error) {
		entry := by.did(action, "")
		entry.AppID = appID
		return entry, nil
	})
}

// Deliveries lists the deliveries of all webhooks of an app, newest first and without bodies. The
// audit log has an entry for each call. Its error is one of apierror, 404 when there is no such
// app.
func (o *Operator) Deliveries(ctx context.Context, by Actor, appID string, q partner.DeliveryQuery) (partner.DeliveryPage, error) {
	if err := o.look(ctx, by, appID, audited.DeliveriesViewed); err != nil {
		return partner.DeliveryPage{}, err
	}
	return o.cfg.Console.AppDeliveries(ctx, appID, q)
}

// Requests lists the last calls of an app, newest first and without bodies. The audit log has an
// entry for each call. Its error is one of apierror: 404 when there is no such app, or what is
// wrong with the filter and the page.
func (o *Operator) Requests(ctx context.Context, by Actor, appID string, f console.RequestFilter, p console.Page) (console.Paged[callstore.Request], error) {
	if err := f.Check(); err != nil {
		return console.Paged[callstore.Request]{}, err
	}
	if err := o.look(ctx, by, appID, audited.RequestsViewed); err != nil {
		return console.Paged[callstore.Request]{}, err
	}
	found, err := o.cfg.Console.AppRequests(ctx, appID, f, p)
	for i := range found.Items {
		found.Items[i].Error = ""
	}
	return found, err
}

// ParseDeliveryQuery reads the query of a list of deliveries, with a validation error of apierror.
func (o *Operator) ParseDeliveryQuery(r *http.Request) (partner.DeliveryQuery, error) {
	return o.cfg.Console.ParseDeliveryQuery(r)
}

func checkRequired(reason string) error {
	var v apierror.Validation
	checkReason(&v, reason)
	return v.Err()
}

// Uninstall ends the installation of an app in a business, as the business would, with a reason
// for the audit log. It returns the installation as it was. Its error is one of apierror, 404 when
// the app is not installed there.
func (o *Operator) Uninstall(ctx context.Context, by Actor, appID, businessID, reason string) (partner.Installation, error) {
	if err := checkRequired(reason); err != nil {
		return partner.Installation{}, err
	}
	if !text.IsStorable(businessID) || !text.IsStorable(appID) {
		return partner.Installation{}, apierror.NotFound("installation")
	}
	var ended partner.Installation
	err := o.change(ctx, func(ctx context.Context) (audit.Entry, error) {
		found, err := o.cfg.Store.Installations(ctx, partner.InstallationQuery{AppID: appID, BusinessID: businessID, Limit: 1})
		if err != nil {
			return audit.Entry{}, err
		}
		if len(found) == 0 {
			return audit.Entry{}, partner.ErrNotFound
		}
		ended = found[0]
		entry := by.did(audited.OperatorUninstalled, reason)
		entry.AppID, entry.Target = appID, businessID
		return entry, o.cfg.OAuth.Uninstall(ctx, appID, businessID, by.user.ID)
	})
	return ended, absent("installation", err)
}

// EraseBusiness uninstalls all apps in a business and removes what is kept of it, with a reason for
// the audit log, which does not have the business's id. It reports what it did, and is repeated
// until nothing is left: see [oauthserver.Server.EraseBusiness]. Its error is one of apierror
// without a reason, or for an id that no business has.
func (o *Operator) EraseBusiness(ctx context.Context, by Actor, businessID, reason string) (partner.BusinessErasure, error) {
	if err := checkRequired(reason); err != nil {
		return partner.BusinessErasure{}, err
	}
	if businessID == "" || businessID == partner.ErasedBusiness || !text.IsStorable(businessID) {
		return partner.BusinessErasure{}, apierror.NotFound("business")
	}
	err := o.change(ctx, func(context.Context) (audit.Entry, error) {
		entry := by.did(audited.BusinessErased, reason)
		entry.Target = partner.ErasedBusiness
		return entry, nil
	})
	if err != nil {
		return partner.BusinessErasure{}, err
	}
	return o.cfg.OAuth.EraseBusiness(ctx, businessID, by.user.ID)
}

func (o *Operator) eraseBusiness(w http.ResponseWriter, r *http.Request, by Actor) error {
	var in struct {
		Reason string `json:"reason"`
	}
	if err := readBody(r, &in, func() error { return checkRequired(in.Reason) }); err != nil {
		return err
	}
	done, err := o.EraseBusiness(r.Context(), by, r.PathValue("businessId"), in.Reason)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, struct {
		Installations int `json:"installations"`
		AppData       int `json:"appData"`
		Events        int `json:"events"`
		Deliveries    int `json:"deliveries"`
		Keys          int `json:"keys"`
		AuditEntries  int `json:"auditEntries"`
		Waiting       int `json:"waiting,omitempty"` // for notices to apps; events and deliveries stay until then
	}{done.Installations, done.AppData, done.Events, done.Deliveries, done.Keys, done.AuditEntries, done.Waiting})
}

func (o *Operator) listDeliveries(w http.ResponseWriter, r *http.Request, by Actor) error {
	q, err := o.ParseDeliveryQuery(r)
	if err != nil {
		return err
	}
	page, err := o.Deliveries(r.Context(), by, r.PathValue("appId"), q)
	if err != nil {
		return err
	}
	return console.WriteDeliveries(w, page)
}

func (o *Operator) listRequests(w http.ResponseWriter, r *http.Request, by Actor) error {
	f, p, err := console.ParseRequestFilter(r)
	if err != nil {
		return err
	}
	requests, err := o.Requests(r.Context(), by, r.PathValue("appId"), f, p)
	if err != nil {
		return err
	}
	return console.WriteRequests(w, requests)
}

func (o *Operator) uninstall(w http.ResponseWriter, r *http.Request, by Actor) error {
	var in struct {
		Reason string `json:"reason"`
	}
	if err := readBody(r, &in, func() error { return checkRequired(in.Reason) }); err != nil {
		return err
	}
	ended, err := o.Uninstall(r.Context(), by, r.PathValue("appId"), r.PathValue("businessId"), in.Reason)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, installationPayload{ended.BusinessID, partner.InstallationRemoved, ended.Scopes, stamp.Of(ended.CreatedAt)})
}
