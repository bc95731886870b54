package pages

import (
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/site"
)

func auditRoutes() []route {
	return []route{{"GET", "/apps/{appId}/audit", (*visit).showAudit}}
}

type auditView struct {
	Entries []auditRow
	Pager   look.Pager
	Exports []look.Link
}

type auditRow struct {
	audit.Entry
	Words string     // what was done
	By    look.Named // the user
	Link  string     // the page of the target; empty: it has none
	Name  string     // of the target
}

// showAudit shows the audit log of an app.
func (v *visit) showAudit() error {
	after := v.r.URL.Query().Get("after")
	page, err := v.cfg.Console.Audit(v.r.Context(), v.by, v.app.ID, console.Page{After: after})
	if err != nil {
		return err
	}
	rows, err := v.auditRows(page.Items)
	if err != nil {
		return err
	}
	return v.show("audit", "Audit log", auditView{
		Entries: rows, Pager: v.pager(path("apps", v.app.ID, "audit"), after, page.NextCursor), Exports: v.exportLinks(path("apps", v.app.ID, "audit"), nil),
	})
}

// auditRows returns the entries with the names of people and the addresses of webhooks.
func (v *visit) auditRows(entries []audit.Entry) ([]auditRow, error) {
	addresses, err := v.webhookAddresses()
	if err != nil {
		return nil, err
	}
	names := map[string]string{v.by.UserID(): v.by.Name()}
	rows := make([]auditRow, 0, len(entries))
	for _, entry := range entries {
		row := auditRow{Entry: entry, Words: site.InWords(entry.Action)}
		row.By.ID = entry.UserID
		if row.By.Name, err = v.userName(names, entry.UserID); err != nil {
			return nil, err
		}
		if address, ok := addresses[entry.Target]; ok {
			row.Name, row.Link = address, v.cfg.Prefix+v.webhookPath(entry.Target)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// webhookAddresses returns the URLs of the app's webhooks by id; none on a page about no app.
func (v *visit) webhookAddresses() (map[string]string, error) {
	addresses := map[string]string{}
	if v.app.ID == "" {
		return addresses, nil
	}
	hooks, err := v.cfg.Console.Webhooks(v.r.Context(), v.by, v.app.ID)
	for _, hook := range hooks {
		addresses[hook.ID] = hook.URL
	}
	return addresses, err
}

// userName returns the name of a user, who is looked up once.
func (v *visit) userName(known map[string]string, userID string) (string, error) {
	if name, ok := known[userID]; ok {
		return name, nil
	}
	name, err := v.cfg.Console.UserName(v.r.Context(), userID)
	known[userID] = name
	return name, err
}
