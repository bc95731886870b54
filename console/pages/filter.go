package pages

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/partner"
)

// statuses are the statuses of a delivery, in the order in which pages show them.
var statuses = []partner.DeliveryStatus{partner.DeliveryFailed, partner.DeliveryRetrying, partner.DeliveryQueued, partner.DeliveryDelivered}

// entry is a field of a form: what was entered, and what is wrong with it.
type entry struct {
	Value, Problem string
	IsFirst        bool // of the form's problems
}

// field is an entry with its place on a page.
type field struct {
	ID, Name, Label string
	Entry           entry
	Required        bool
}

// Problem describes what is wrong with the entry.
func (f field) Problem() problem {
	if f.Entry.Problem == "" {
		return problem{}
	}
	id := f.ID + "-problem"
	return problem{ID: id, Text: f.Entry.Problem, DescribedBy: id, IsFirst: f.Entry.IsFirst}
}

// againField returns a field of the form that sends failed deliveries again. The filter has
// fields of the same names on the same page.
func againField(name, label string, e entry) field {
	return field{ID: "again-" + name, Name: name, Label: label, Entry: e, Required: name == "since"}
}

// deliveryFilter is the form above a list of deliveries. The names of its fields are those of
// the JSON API.
type deliveryFilter struct {
	Statuses   []partner.DeliveryStatus
	Event      entry
	BusinessID entry
	EventID    entry
	Since      entry
	Until      entry
	Status     entry // only its Problem

	query partner.DeliveryQuery
}

// readFilter reads the filter of an address. An empty field filters nothing.
func (v *visit) readFilter(values url.Values) deliveryFilter {
	f := deliveryFilter{BusinessID: entry{Value: trimmed(values, "businessId")}}
	for _, one := range values["status"] {
		for status := range strings.SplitSeq(one, ",") {
			switch {
			case slices.Contains(statuses, partner.DeliveryStatus(status)):
				f.Statuses = append(f.Statuses, partner.DeliveryStatus(status))
			case status != "":
				f.Status.Problem = "Choose from these statuses."
			}
		}
	}
	f.Event = v.readEvent(values)
	f.EventID.Value = trimmed(values, "eventId")
	if f.EventID.Value != "" && !id.Valid(id.Event, f.EventID.Value) {
		f.EventID.Problem = "This is not the id of an event. One looks like " + id.New(id.Event, v.cfg.Clock.Now()) + "."
	}
	f.query = partner.DeliveryQuery{Statuses: f.Statuses, EventType: f.Event.Value, BusinessID: f.BusinessID.Value, EventID: f.EventID.Value}
	f.Since, f.query.Since = readMoment(values, "since")
	f.Until, f.query.Until = readMoment(values, "until")
	if f.Until.Problem == "" && !f.query.Until.IsZero() && !f.query.Since.Before(f.query.Until) {
		f.Until.Problem = "Until must be later than Since."
	}
	focusFirst(&f.Status, &f.Event, &f.BusinessID, &f.EventID, &f.Since, &f.Until)
	return f
}

// focusFirst gives the focus to the first of the entries of a form with a problem.
func focusFirst(entries ...*entry) {
	isFound := false
	for _, one := range entries {
		one.IsFirst = !isFound && one.Problem != ""
		isFound = isFound || one.IsFirst
	}
}

// isRefused reports whether a field has a problem.
func (f deliveryFilter) isRefused() bool {
	for _, one := range []entry{f.Status, f.Event, f.BusinessID, f.EventID, f.Since, f.Until} {
		if one.Problem != "" {
			return true
		}
	}
	return false
}

// IsSet reports whether the list is not of all deliveries.
func (f deliveryFilter) IsSet() bool { return len(f.values()) > 0 }

// Has reports whether a status is among those that are asked for.
func (f deliveryFilter) Has(status partner.DeliveryStatus) bool {
	return slices.Contains(f.Statuses, status)
}

// chips returns the fields of the form.
func (f deliveryFilter) chips() []look.Chip {
	status := look.Chip{Name: "status", Label: "Status", Kind: "choices", Problem: f.Status.Problem, IsFirst: f.Status.IsFirst}
	var chosen []string
	for _, one := range statuses {
		text := deliveryBadge(one).Text
		status.Choices = append(status.Choices, look.Choice{Value: string(one), Text: text, Chosen: f.Has(one)})
		if f.Has(one) {
			chosen = append(chosen, text)
		}
	}
	status.Text = strings.Join(chosen, ", ")
	chip := func(name, label, kind string, e entry) look.Chip {
		return look.Chip{Name: name, Label: label, Kind: kind, Value: e.Value, Problem: e.Problem, IsFirst: e.IsFirst}
	}
	event := chip("event", "Event", "", f.Event)
	event.List = "event-names"
	return []look.Chip{
		status, event, chip("businessId", "Business id", "", f.BusinessID), chip("eventId", "Event id", "", f.EventID),
		chip("since", "Since", "moment", f.Since), chip("until", "Until", "moment", f.Until),
	}
}

// values returns the filter as the query of an address, without what is empty.
func (f deliveryFilter) values() url.Values {
	values := url.Values{}
	for _, status := range f.Statuses {
		values.Add("status", string(status))
	}
	for name, one := range map[string]entry{"event": f.Event, "businessId": f.BusinessID, "eventId": f.EventID, "since": f.Since, "until": f.Until} {
		if one.Value != "" {
			values.Set(name, one.Value)
		}
	}
	return values
}

// readEvent reads the name of an event of the catalog.
func (v *visit) readEvent(values url.Values) entry {
	e := entry{Value: trimmed(values, "event")}
	if e.Value != "" && !slices.Contains(v.eventNames(), e.Value) {
		e.Problem = "There is no such event. Choose one from the list."
	}
	return e
}

// eventNames returns the names of the events of the catalog, in its order.
func (v *visit) eventNames() []string {
	all := v.cfg.Console.EventCatalog()
	names := make([]string, 0, len(all))
	for _, definition := range all {
		names = append(names, definition.Name)
	}
	return names
}

func trimmed(values url.Values, name string) string { return strings.TrimSpace(values.Get(name)) }

// moments are the forms in which a time can be entered, all in UTC unless the text says
// otherwise. The first is that of browsers, and of the pages.
var moments = []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly, time.RFC3339}

// asMoment returns a time as a field for times takes it.
func asMoment(at time.Time) string { return at.UTC().Format(moments[0]) }

// readMoment reads a time; it is zero if the field is empty. What it understands it shows as
// browsers write it.
func readMoment(values url.Values, name string) (entry, time.Time) {
	text := trimmed(values, name)
	if text == "" {
		return entry{}, time.Time{}
	}
	for _, form := range moments {
		if at, err := time.Parse(form, text); err == nil && at.UTC().Year() >= 1970 && at.UTC().Year() < 10000 {
			return entry{Value: asMoment(at)}, at
		}
	}
	return entry{Value: text, Problem: "Enter a date and a time in UTC, such as 2026-09-01 12:00."}, time.Time{}
}

// withClear completes chips: what is set, and the address of the list without it.
func (v *visit) withClear(list string, filter url.Values, chips []look.Chip) look.Chips {
	for i := range chips {
		chip := &chips[i]
		set := filter[chip.Name]
		if chip.Problem != "" || len(set) == 0 || set[0] == "" {
			continue
		}
		if chip.Text == "" {
			chip.Text = strings.Join(set, ", ")
		}
		if chip.Kind == "moment" {
			chip.Text = strings.Replace(chip.Text, "T", " ", 1)
		}
		rest := url.Values{}
		for name, values := range filter {
			if name != chip.Name && name != "after" {
				rest[name] = values
			}
		}
		chip.Clear = v.site.ListAt(list, rest, "")
	}
	all := v.site.ListAt(list, nil, "")
	return look.Chips{Action: all, All: all, Chips: chips}
}
