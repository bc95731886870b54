package pages

import (
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/operator"
)

func figureRoutes() []route { return []route{{"GET ", (*visit).showFigures}} }

type figuresView struct {
	operator.PlatformFigures
	Active, Suspended, Deactivated int // apps
	Table                          webhooksTable
}

// webhooksTable is a table of webhooks: of one app, or with the app of each.
type webhooksTable struct {
	Webhooks []operator.WebhookHealth
	IsOfOne  bool
}

// showFigures is the start page: how the platform does.
func (v *visit) showFigures() error {
	figures, err := v.cfg.Operator.Figures(v.r.Context(), v.by)
	if err != nil {
		return err
	}
	return v.show("figures", "Dashboard", figuresView{
		PlatformFigures: figures, Active: figures.Apps[oauthserver.AppActive],
		Suspended: figures.Apps[oauthserver.AppSuspended], Deactivated: figures.Apps[oauthserver.AppDeactivated],
		Table: webhooksTable{Webhooks: figures.Failing},
	})
}
