package console

import (
	"context"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/internal/id"
)

// Audit lists who did what to an app, newest first. Of those who are no developers of
// it, it does not tell the name.
func (c *Console) Audit(ctx context.Context, by Actor, appID string, p Page) (Paged[audit.Entry], error) {
	if _, err := c.App(ctx, by, appID); err != nil {
		return Paged[audit.Entry]{}, err
	}
	return pageOfAudit(p, func(before string, limit int) ([]audit.Entry, error) {
		return c.cfg.Store.Audit(ctx, appID, before, limit)
	})
}

// OrganizationAudit lists who did what for the actor's organizations that is about no
// app, such as issuing a registration token, newest first. Targets are the
// organizations.
func (c *Console) OrganizationAudit(ctx context.Context, by Actor, p Page) (Paged[audit.Entry], error) {
	organizationIDs := convert(by.organizations, func(o Organization) string { return o.ID })
	return pageOfAudit(p, func(before string, limit int) ([]audit.Entry, error) {
		return c.cfg.Store.OrganizationAudit(ctx, organizationIDs, before, limit)
	})
}

func pageOfAudit(p Page, read func(before string, limit int) ([]audit.Entry, error)) (Paged[audit.Entry], error) {
	if p.After != "" && !id.Valid(id.Audit, p.After) {
		return Paged[audit.Entry]{}, apierror.Invalid("after must be the nextCursor of a page")
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
	CreatedAt time.Time    `json:"createdAt"`
}

func newAuditPayload(e audit.Entry) auditPayload {
	return auditPayload{ID: e.ID, UserID: orNull(e.UserID), Action: e.Action, Target: orNull(e.Target), CreatedAt: stamp(e.At)}
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
	return listPage(w, entries, newAuditPayload)
}
