package webhooks

import "time"

// usageWindow is how long a delivery counts as recent: between one and two windows.
const usageWindow = time.Second

// usage counts the recent deliveries of each business. A business that has more than its
// fair share is served after the others, so that one business with a burst of events does
// not delay the webhooks of the rest.
type usage struct {
	began           time.Time // when the current window began, in real time
	current, before window
	businesses      int // in either
}

type window struct {
	byBusiness map[string]int
	total      int
}

func newUsage() usage {
	return usage{current: window{byBusiness: map[string]int{}}}
}

// add counts one delivery of a business.
func (u *usage) add(business string, now time.Time) {
	if since := now.Sub(u.began); since >= usageWindow {
		u.before = u.current
		if since >= 2*usageWindow {
			u.before = window{}
		}
		u.current = window{byBusiness: map[string]int{}}
		u.began, u.businesses = now, len(u.before.byBusiness)
	}
	if u.current.byBusiness[business]+u.before.byBusiness[business] == 0 {
		u.businesses++
	}
	u.current.byBusiness[business]++
	u.current.total++
}

// isAboveShare reports whether a business has had more than 1.25 times the fair share of
// the recent deliveries. The share is what each business would have if one more business
// had deliveries, so that a business is above its share while it is alone.
func (u *usage) isAboveShare(business string) bool {
	used := u.current.byBusiness[business] + u.before.byBusiness[business]
	return 4*used*(u.businesses+1) > 5*(u.current.total+u.before.total)
}
