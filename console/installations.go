package console

import (
	"context"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/jsonapi"
	"github.com/partnerkit/partnerkit/internal/stamp"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/partner"
)

// maxBusinessID bounds the cursor of a list, which is the host's id of a business.
const maxBusinessID = 256

// Installation is an app in a business.
type Installation struct {
	partner.Installation
	BusinessName string    // empty: it is not known
	LastUsedAt   time.Time // zero: no call was made
}

// Installations lists the businesses that an app is or was connected to, each with its
// newest installation, by the ids of the businesses. Its error is one of apierror: 404, or
// what is wrong with the page.
func (c *Console) Installations(ctx context.Context, by Actor, appID string, p Page) (Paged[Installation], error) {
	if _, err := c.App(ctx, by, appID); err != nil {
		return Paged[Installation]{}, err
	}
	if len(p.After) > maxBusinessID || !text.IsStorable(p.After) {
		return Paged[Installation]{}, apierror.InvalidAt("after", "must be the nextCursor of a page")
	}
	found, err := c.cfg.Store.BusinessInstallations(ctx, appID, p.After, p.limit()+1)
	if err != nil {
		return Paged[Installation]{}, err
	}
	uses, err := c.cfg.Analytics.LastUses(ctx, jsonapi.Convert(found, func(i partner.Installation) string { return i.ID })...)
	if err != nil {
		return Paged[Installation]{}, err
	}
	all := make([]Installation, 0, len(found))
	for _, one := range found {
		name, err := c.businessName(ctx, one.BusinessID)
		if err != nil {
			return Paged[Installation]{}, err
		}
		all = append(all, Installation{one, name, uses[one.ID]})
	}
	return cut(all, p.limit(), func(i Installation) string { return i.BusinessID }), nil
}

// businessName returns the name of a business that has connected an app of the actor's, as it
// can be shown; empty if it is not known.
func (c *Console) businessName(ctx context.Context, businessID string) (string, error) {
	if c.cfg.BusinessName == nil || businessID == "" {
		return "", nil
	}
	name, err := c.cfg.BusinessName(ctx, businessID)
	return text.Line(name), err
}

func (c *Console) connectionRoutes() []route {
	return []route{
		{"GET /developer/apps/{appId}/installations", c.listInstallations},
		{"GET /developer/apps/{appId}/limits", c.listLimits},
	}
}

type installationPayload struct {
	BusinessID   string      `json:"businessId"`
	BusinessName string      `json:"businessName,omitempty"`
	Status       string      `json:"status"`
	Scopes       []string    `json:"scopes"`
	InstalledAt  stamp.Time  `json:"installedAt"`
	LastUsedAt   *stamp.Time `json:"lastUsedAt,omitempty"`
}

func newInstallationPayload(i Installation) installationPayload {
	return installationPayload{
		BusinessID: i.BusinessID, BusinessName: i.BusinessName, Status: string(i.Status), Scopes: i.Scopes.Names(),
		InstalledAt: stamp.Of(i.CreatedAt), LastUsedAt: stamp.OrNull(i.LastUsedAt),
	}
}

func (c *Console) listInstallations(w http.ResponseWriter, r *http.Request, by Actor) error {
	p, err := readPage(r)
	if err != nil {
		return err
	}
	installations, err := c.Installations(r.Context(), by, r.PathValue("appId"), p)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, jsonapi.NewPage(installations.Items, installations.NextCursor, newInstallationPayload))
}
