package pages

import (
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/partner"
)

func searchRoutes() []route { return []route{{"GET", "/search", (*visit).showSearch}} }

const searchTitle = "Search"

type searchView struct {
	Query   string
	Results []result
}

// result is a page that was found.
type result struct {
	Text, Detail string
	Code         string // an id; empty: none
	Href         string
}

// mostResults is how many pages a search shows.
const mostResults = 20

// showSearch shows the pages that the words of a query name, and what an id names, as far as the
// person may see it.
func (v *visit) showSearch() error {
	view := searchView{Query: trimmed(v.r.URL.Query(), "q")}
	if view.Query != "" && len(view.Query) <= 256 && text.IsStorable(view.Query) {
		found, err := v.cfg.Console.Find(v.r.Context(), v.by, view.Query)
		if err != nil {
			return err
		}
		for _, one := range found {
			view.Results = append(view.Results, v.resultOf(one))
		}
		apps, err := v.cfg.Console.AllApps(v.r.Context(), v.by)
		if err != nil {
			return err
		}
		view.Results = append(view.Results, v.pagesNamed(apps, view.Query)...)
		view.Results = view.Results[:min(len(view.Results), mostResults)]
	}
	return v.show("search", searchTitle, view)
}

// resultOf returns the page of something that an id names.
func (v *visit) resultOf(f console.Found) result {
	r := result{Detail: f.App.Name, Code: f.ID}
	below := []string{"apps", f.App.ID}
	switch {
	case id.Valid(id.Webhook, f.ID):
		r.Text, below = "Webhook", append(below, "webhooks", f.ID)
	case id.Valid(id.Delivery, f.ID):
		r.Text, below = "Delivery", append(below, "webhooks", f.WebhookID, "deliveries", f.ID)
	case id.Valid(id.Event, f.ID):
		r.Text, below = "Event", append(below, "events", f.ID)
	case id.Valid(id.Request, f.ID):
		r.Text, below = "Request", append(below, "requests", f.ID)
	case id.Valid(id.Installation, f.ID):
		r.Text, below = "Connected business", append(below, "installations")
	default:
		r.Text, below = "Calls for the business", append(below, "requests")
		r.Href = v.site.ListAt(path(below...), map[string][]string{"businessId": {f.ID}}, "")
		return r
	}
	r.Href = v.site.Href(below...)
	return r
}

// pagesNamed returns the pages that have all words of a query: apps by their names and ids, then
// their parts, then pages that are about no app.
func (v *visit) pagesNamed(apps []partner.App, query string) []result {
	words := strings.Fields(strings.ToLower(query))
	has := func(texts ...string) bool {
		all := strings.ToLower(strings.Join(texts, "\n"))
		return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(all, word) })
	}
	var results, ofParts []result
	for _, app := range apps {
		isNamed := has(app.Name) || query == app.ID || query == app.ClientID
		if isNamed {
			results = append(results, result{Text: app.Name, Detail: "App", Code: app.ID, Href: v.site.Href("apps", app.ID)})
		}
		for _, part := range parts[1:] {
			if !isNamed && has(app.Name, part.Text) {
				ofParts = append(ofParts, result{Text: part.Text, Detail: app.Name, Href: v.site.Href("apps", app.ID) + part.Href})
			}
		}
	}
	for _, part := range append(slices.Clone(ownParts), part{Text: newAppTitle, Href: "/apps/new"}) {
		if has(part.Text) {
			results = append(results, result{Text: part.Text, Detail: "Developer console", Href: v.cfg.Prefix + part.Href})
		}
	}
	return append(results, ofParts...)
}

// appsQuery is how the table of apps is searched and sorted.
type appsQuery struct{ Query, Sort string }

// sorts are the columns that the table of apps can be sorted by.
var sorts = []look.Link{{Text: "App", Href: "name"}, {Text: "Organization", Href: "organization"}, {Text: "Status", Href: "status"}, {Text: "Created", Href: "created"}}

// arrange keeps the rows that the query names, and sorts them: by name, unless the query says
// otherwise. A minus in front of a column turns its order around.
func (q appsQuery) arrange(rows []appRow) []appRow {
	query := strings.ToLower(q.Query)
	rows = slices.DeleteFunc(rows, func(r appRow) bool {
		return !strings.Contains(strings.ToLower(r.Name+"\n"+r.Organization), query) && q.Query != r.ID && q.Query != r.ClientID
	})
	column, isTurned := strings.CutPrefix(q.Sort, "-")
	key := func(r appRow) string {
		switch column {
		case "organization":
			return strings.ToLower(r.Organization)
		case "status":
			return r.Badge.Text
		case "created":
			return r.ID
		}
		return strings.ToLower(r.Name)
	}
	slices.SortStableFunc(rows, func(a, b appRow) int {
		if isTurned {
			a, b = b, a
		}
		return strings.Compare(key(a), key(b))
	})
	return rows
}
