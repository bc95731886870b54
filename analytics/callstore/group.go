package callstore

import (
	"time"
)

// GroupBy selects the property by which calls are grouped.
type GroupBy string

// The values of GroupBy.
const (
	ByRoute    GroupBy = "route"
	ByStatus   GroupBy = "status"
	ByBusiness GroupBy = "business"
)

// Group is the calls of one app on one UTC day that have something in common: their route,
// the status of their responses, or their business.
type Group struct {
	AppID string
	Day   time.Time // its beginning
	By    GroupBy
	Key   string // empty: calls that no route serves
	Counts
	Bytes int64 // of the bodies of the responses
}

// GroupQuery asks for groups.
type GroupQuery struct {
	AppID    string
	By       GroupBy
	From, To time.Time
	Limit    int
}

// Usage is what an app used in one business on one UTC day, for plans and bills.
type Usage struct {
	Day        time.Time // its beginning
	BusinessID string
	Calls      int64
	Errors     int64 // of Calls
	Bytes      int64 // of the bodies of the responses
}

// UsageQuery asks for the usage of an app in a period of days.
type UsageQuery struct {
	AppID    string
	From, To time.Time   // the first and the last day, in UTC
	After    UsageCursor // the last entry of the page before; zero: the first page
	Limit    int         // at least 1
}

// UsageCursor is the place of an entry in a list of usage.
type UsageCursor struct {
	Day        time.Time
	BusinessID string
}

// Cursor returns the place of the entry.
func (u Usage) Cursor() UsageCursor { return UsageCursor{u.Day, u.BusinessID} }
