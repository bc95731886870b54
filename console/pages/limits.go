package pages

import (
	"cmp"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/look"
)

func limitRoutes() []route {
	return []route{{"GET", "/apps/{appId}/limits", (*visit).showLimits}}
}

type limitsView struct {
	AppID      string
	BusinessID string     // whose limits are shown; empty: those of the busiest businesses
	Business   look.Named // the same, with its name
	Own        []limitRow // of the whole app
	Businesses []limitRow // most used first
}

type limitRow struct {
	console.LimitUse
	What     string
	Business look.Named
}

// windowed adds the length of a window that is not a minute.
func windowed(what string, use console.LimitUse) string {
	switch {
	case use.Window == time.Minute:
		return what
	case use.Window < time.Minute:
		return what + " in " + use.Window.String()
	}
	return what + " in " + span(use.Window)
}

// IsNear reports that less than a tenth is left.
func (l limitRow) IsNear() bool { return l.Used*10 > l.Limit*9 }

// showLimits shows how much of each limit is used.
func (v *visit) showLimits() error {
	data := limitsView{AppID: v.app.ID, BusinessID: v.r.URL.Query().Get("business")}
	uses, err := v.cfg.Console.LimitUses(v.r.Context(), v.by, v.app.ID, data.BusinessID)
	if err != nil {
		return err
	}
	for _, use := range uses {
		switch use.Name {
		case console.LimitApp:
			data.Own = append(data.Own, limitRow{LimitUse: use, What: windowed("Calls for all businesses", use)})
		case console.LimitToken:
			data.Own = append(data.Own, limitRow{LimitUse: use, What: windowed("Token requests", use)})
		case console.LimitBusiness:
			data.Businesses = append(data.Businesses, limitRow{LimitUse: use, What: windowed("All calls", use)})
		case console.LimitRoute:
			data.Businesses = append(data.Businesses, limitRow{LimitUse: use, What: windowed(use.Route, use)})
		}
	}
	slices.SortStableFunc(data.Businesses, func(a, b limitRow) int { return cmp.Compare(b.Used*a.Limit, a.Used*b.Limit) })
	names, err := v.named(append(idsOf(data.Businesses, func(l limitRow) string { return l.BusinessID }), data.BusinessID))
	if err != nil {
		return err
	}
	for i := range data.Businesses {
		data.Businesses[i].Business = names[data.Businesses[i].BusinessID]
	}
	data.Business = names[data.BusinessID]
	return v.show("limits", "Limits", data)
}
