package pages

import (
	"github.com/partnerkit/partnerkit/operator"
	"github.com/partnerkit/partnerkit/partner"
)

func figureRoutes() []route { return []route{{"GET ", (*visit).showFigures}} }

type figuresView struct {
	operator.PlatformFigures
	Active, Suspended, Deactivated int // apps
	Table                          webhooksTable
}

// webhooksTable is a table of webhooks: of one app, or with the app of each.
type webhooksTable struct {
	Webhooks []webhookRow
	IsOfOne  bool
}

// webhookRow is a webhook with the name of its app.
type webhookRow struct {
	operator.WebhookHealth
	App string
}

// webhookRows returns webhooks with the names of their apps.
func (v *visit) webhookRows(all []operator.WebhookHealth) ([]webhookRow, error) {
	var ids operator.NamedIDs
	for _, one := range all {
		ids.Apps = append(ids.Apps, one.AppID)
	}
	names, err := v.cfg.Operator.Names(v.r.Context(), v.by, ids)
	rows := make([]webhookRow, 0, len(all))
	for _, one := range all {
		rows = append(rows, webhookRow{one, names.Apps[one.AppID]})
	}
	return rows, err
}

// showFigures is the start page: how the platform does.
func (v *visit) showFigures() error {
	figures, err := v.cfg.Operator.Figures(v.r.Context(), v.by)
	if err != nil {
		return err
	}
	failing, err := v.webhookRows(figures.Failing)
	if err != nil {
		return err
	}
	return v.show("figures", "Dashboard", figuresView{
		PlatformFigures: figures, Active: figures.Apps[partner.AppActive],
		Suspended: figures.Apps[partner.AppSuspended], Deactivated: figures.Apps[partner.AppDeactivated],
		Table: webhooksTable{Webhooks: failing},
	})
}
