package pages

import (
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/partner"
)

func installationRoutes() []route {
	return []route{{"GET", "/apps/{appId}/installations", (*visit).showInstallations}}
}

type installationsView struct {
	AppID         string
	Installations []installationRow
	Pager         look.Pager
}

type installationRow struct {
	console.Installation
	Badge    look.Badge
	Business look.Named
}

// showInstallations lists the businesses that connected the app.
func (v *visit) showInstallations() error {
	after := v.r.URL.Query().Get("after")
	page, err := v.cfg.Console.Installations(v.r.Context(), v.by, v.app.ID, console.Page{After: after})
	if err != nil {
		return err
	}
	data := installationsView{AppID: v.app.ID, Pager: v.pager(path("apps", v.app.ID, "installations"), after, page.NextCursor)}
	for _, one := range page.Items {
		data.Installations = append(data.Installations, installationRow{one, installationBadge(one.Status), look.Named{ID: one.BusinessID, Name: one.BusinessName}})
	}
	return v.show("installations", "Businesses", data)
}

func installationBadge(status partner.InstallationStatus) look.Badge {
	switch status {
	case partner.InstallationActive:
		return look.Badge{Kind: "ok", Text: "Connected"}
	case partner.InstallationRevoked:
		return look.Badge{Text: "Access revoked"}
	case partner.InstallationRemoved:
		return look.Badge{Text: "Uninstalled"}
	}
	return look.Badge{Text: string(status)}
}
