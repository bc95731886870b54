package console

import (
	"context"
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/jsonapi"
	"github.com/partnerkit/partnerkit/internal/stamp"
)

// Audit lists the audit entries of an app, newest first. Entries that were not made by a
// developer have no user id.
func (c *Console) Audit(ctx context.Context, by Actor, appID string, p Page) (Paged[audit.Entry], error) {
	if _, err := c.App(ctx, by, appID); err != nil {
		return Paged[audit.Entry]{}, err
	}
	return pageOfAudit(p, func(before string, limit int) ([]audit.Entry, error) {
		return c.cfg.Store.Audit(ctx, audit.Query{AppID: appID, Before: before, Limit: limit})
	})
}

// OrganizationAudit lists who did what for the actor's organizations that is about no
// app, such as issuing a registration token, newest first. Targets are the
// organizations.
func (c *Console) OrganizationAudit(ctx context.Context, by Actor, p Page) (Paged[audit.Entry], error) {
	organizationIDs := jsonapi.Convert(by.organizations, func(o Organization) string { return o.ID })
	return pageOfAudit(p, func(before string, limit int) ([]audit.Entry, error) {
		return c.cfg.Store.Audit(ctx, audit.Query{OrganizationIDs: organizationIDs, Before: before, Limit: limit})
	})
}

func pageOfAudit(p Page, read func(before string, limit int) ([]audit.Entry, error)) (Paged[audit.Entry], error) {
	if p.After != "" && !id.Valid(id.Audit, p.After) {
		return Paged[audit.Entry]{}, apierror.InvalidAt("after", "must be the nextCursor of a page")
	}
	entries, err := read(p.After, p.limit()+1)
	for i := range entries {
		if !entries[i].ByDeveloper {
			entries[i].UserID = ""
		}
	}
	return cut(entries, p.limit(), func(e audit.Entry) string { return e.ID }), err
}

func (c *Console) auditRoutes() []route {
	return []route{{"GET /developer/apps/{appId}/audit", c.listAudit}}
}

type auditPayload struct {
	ID        string       `json:"id"`
	UserID    *string      `json:"userId"`
	Action    audit.Action `json:"action"`
	Target    *string      `json:"target"`
	Detail    string       `json:"detail,omitempty"`
	Token     string       `json:"token,omitempty"` // the name of the console token
	CreatedAt stamp.Time   `json:"createdAt"`
}

func newAuditPayload(e audit.Entry) auditPayload {
	return auditPayload{ID: e.ID, UserID: jsonapi.OrNull(e.UserID), Action: e.Action, Target: jsonapi.OrNull(e.Target), Detail: e.Detail, Token: e.Token, CreatedAt: stamp.Of(e.At)}
}

func (c *Console) listAudit(w http.ResponseWriter, r *http.Request, by Actor) error {
	page, err := readPage(r)
	if err != nil {
		return err
	}
	entries, err := c.Audit(r.Context(), by, r.PathValue("appId"), page)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, jsonapi.NewPage(entries.Items, entries.NextCursor, newAuditPayload))
}
