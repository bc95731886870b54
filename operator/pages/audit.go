package pages

import (
	"iter"
	"net/url"
	"time"

	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/site"
	"github.com/partnerkit/partnerkit/operator"
	"github.com/partnerkit/partnerkit/partner"
)

func auditRoutes() []route {
	return []route{
		{"GET /audit", (*visit).showAudit},
		{"GET /audit/export", (*visit).exportAudit},
	}
}

type auditView struct {
	Query   url.Values
	Actions iter.Seq2[audit.Action, string] // to choose from
	Table   entriesTable
	Export  string
	Pager   look.Pager
}

// entriesTable is a table of audit entries: of one app, or with the app of each.
type entriesTable struct {
	Entries []auditRow
	IsOfOne bool
}

type auditRow struct {
	audit.Entry
	Words   string // what was done
	HasUser bool   // one who was not erased
	By      look.Named
	App     string // its name
}

// auditRows returns entries with the names of people and apps.
func (v *visit) auditRows(entries []audit.Entry) ([]auditRow, error) {
	var ids operator.NamedIDs
	for _, entry := range entries {
		ids.Users, ids.Apps = append(ids.Users, entry.UserID), append(ids.Apps, entry.AppID)
	}
	names, err := v.cfg.Operator.Names(v.r.Context(), v.by, ids)
	rows := make([]auditRow, 0, len(entries))
	for _, entry := range entries {
		rows = append(rows, auditRow{
			Entry: entry, Words: site.InWords(entry.Action), HasUser: entry.UserID != "" && entry.UserID != partner.ErasedUser,
			By: look.Named{ID: entry.UserID, Name: names.Users[entry.UserID]}, App: names.Apps[entry.AppID],
		})
	}
	return rows, err
}

const auditTitle = "Audit log"

// showAudit lists the actions of all users, newest first.
func (v *visit) showAudit() error {
	query := v.r.URL.Query()
	data := auditView{Query: query, Actions: audit.Actions()}
	filter, page, err := v.auditFilter(query)
	if err != nil {
		return v.again(err, "audit", auditTitle, data)
	}
	entries, err := v.cfg.Operator.Audit(v.r.Context(), v.by, filter, page)
	if err != nil {
		return v.again(err, "audit", auditTitle, data)
	}
	if data.Table.Entries, err = v.auditRows(entries.Items); err != nil {
		return err
	}
	data.Export = v.site.ListAt("/audit/export", query, "")
	data.Pager = v.site.Pager("/audit", query, entries.NextCursor)
	return v.show("audit", auditTitle, data)
}

// exportAudit sends all entries that the filter names, as JSON lines.
func (v *visit) exportAudit() error {
	filter, _, err := v.auditFilter(v.r.URL.Query())
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Disposition", `attachment; filename="audit.jsonl"`)
	return v.cfg.Operator.WriteAudit(v.w, v.r, v.by, filter)
}

// auditFilter reads the filter as the JSON does. A form sends days: from the beginning of
// one, to the end of the other.
func (v *visit) auditFilter(query url.Values) (operator.AuditFilter, console.Page, error) {
	precise := url.Values{}
	for name := range query {
		precise.Set(name, query.Get(name))
	}
	for name, days := range map[string]int{"since": 0, "until": 1} {
		if day, err := time.Parse(time.DateOnly, precise.Get(name)); err == nil {
			precise.Set(name, day.AddDate(0, 0, days).Format(time.RFC3339))
		}
	}
	r := v.r.Clone(v.r.Context())
	r.URL.RawQuery = precise.Encode()
	return operator.ParseAuditFilter(r)
}
