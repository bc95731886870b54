package pages

import (
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/partner"
)

// eventGroup is events about one kind of thing, behind one scope.
type eventGroup struct {
	Title string
	// Pattern stands for all events of the group, such as invoice.*; empty: their names begin
	// differently.
	Pattern string
	Scope   string // empty: none is needed
	Held    bool   // whether the app may ask for the scope
	Events  []eventChoice
}

type eventChoice struct {
	events.Definition
	Checked bool
	Data    []piece // the sample
}

// eventGroups returns the events of the catalog, in its order, with the chosen ones
// checked.
func (v *visit) eventGroups(app partner.App, chosen []string) []eventGroup {
	var groups []eventGroup
	for _, definition := range v.cfg.Console.EventCatalog() {
		title := groupTitle(definition)
		i := slices.IndexFunc(groups, func(g eventGroup) bool { return g.Title == title && g.Scope == definition.Scope })
		if i < 0 {
			i = len(groups)
			groups = append(groups, eventGroup{Title: title, Scope: definition.Scope, Held: definition.Scope == "" || app.Scopes.Has(definition.Scope)})
		}
		groups[i].Events = append(groups[i].Events, eventChoice{
			Definition: definition, Checked: slices.Contains(chosen, definition.Name), Data: colored(definition.Sample),
		})
	}
	for i := range groups {
		groups[i].Pattern = patternOf(groups[i].Events[0].Name)
		if slices.ContainsFunc(groups[i].Events, func(e eventChoice) bool { return patternOf(e.Name) != groups[i].Pattern }) {
			groups[i].Pattern = ""
		}
	}
	return groups
}

// patternOf stands for all events whose names begin as this one does: invoice.* for invoice.paid.
func patternOf(name string) string {
	about, _, _ := strings.Cut(name, ".")
	return about + ".*"
}

// chosenEvents returns the events of a form: those that are checked, and all of the groups that
// are checked.
func (v *visit) chosenEvents(form bodies.Form) []string {
	chosen := slices.Clone(form["events"])
	for _, definition := range v.cfg.Console.EventCatalog() {
		if slices.Contains(form["all"], groupTitle(definition)) && !slices.Contains(chosen, definition.Name) {
			chosen = append(chosen, definition.Name)
		}
	}
	return chosen
}

// lacking returns the chosen events of a webhook that never arrive, because the app may not ask
// for their scopes.
func (v *visit) lacking(hook partner.Webhook) []events.Definition {
	var all []events.Definition
	for _, definition := range v.cfg.Console.EventCatalog() {
		if definition.Scope != "" && slices.Contains(hook.Events, definition.Name) && !v.app.Scopes.Has(definition.Scope) {
			all = append(all, definition)
		}
	}
	return all
}

// groupTitle names what an event is about: credit_note.voided a credit note.
func groupTitle(d events.Definition) string {
	switch d.Audience {
	case events.AudienceApp:
		return "The app itself"
	case events.AudiencePrivacy:
		return "Privacy"
	}
	about, _, _ := strings.Cut(d.Name, ".")
	about = strings.ReplaceAll(about, "_", " ")
	return strings.ToUpper(about[:1]) + about[1:]
}

// inOrder returns the chosen events, those that were chosen before first and as they
// stood: a test sends the first one.
func inOrder(before, chosen []string) []string {
	var names []string
	for _, name := range slices.Concat(before, chosen) {
		if slices.Contains(chosen, name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
