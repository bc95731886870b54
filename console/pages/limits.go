package pages

import (
	"cmp"
	"slices"

	"github.com/partnerkit/partnerkit/console"
)

func limitRoutes() []route {
	return []route{{"GET", "/apps/{appId}/limits", (*visit).showLimits}}
}

type limitsView struct {
	AppID      string
	BusinessID string     // whose limits are shown; empty: those of the busiest businesses
	Own        []limitRow // of the whole app
	Businesses []limitRow // most used first
}

type limitRow struct {
	console.LimitUse
	What string
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
			data.Own = append(data.Own, limitRow{use, "Calls for all businesses"})
		case console.LimitToken:
			data.Own = append(data.Own, limitRow{use, "Token requests"})
		case console.LimitBusiness:
			data.Businesses = append(data.Businesses, limitRow{use, "All calls"})
		case console.LimitRoute:
			data.Businesses = append(data.Businesses, limitRow{use, use.Route})
		}
	}
	slices.SortStableFunc(data.Businesses, func(a, b limitRow) int { return cmp.Compare(b.Used*a.Limit, a.Used*b.Limit) })
	return v.show("limits", "Limits", data)
}
