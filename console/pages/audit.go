package pages

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/look"
)

func auditRoutes() []route {
	return []route{{"GET", "/apps/{appId}/audit", (*visit).showAudit}}
}

type auditView struct {
	Entries []auditRow
	Pager   look.Pager
}

type auditRow struct {
	console.AuditEntry
	Words string // what was done
}

// showAudit is who did what to the app.
func (v *visit) showAudit() error {
	after := v.r.URL.Query().Get("after")
	page, err := v.cfg.Console.Audit(v.r.Context(), v.by, v.app.ID, console.Page{After: after})
	if err != nil {
		return err
	}
	return v.show("audit", "Audit log", auditView{auditRows(page.Items), v.pager(path("apps", v.app.ID, "audit"), after, page.NextCursor)})
}

func auditRows(entries []console.AuditEntry) []auditRow {
	rows := make([]auditRow, 0, len(entries))
	for _, entry := range entries {
		rows = append(rows, auditRow{entry, inWords(entry.Action)})
	}
	return rows
}

// deeds are actions whose own words do not say enough.
var deeds = map[string]string{
	console.ActionConsentAllowed: "A person allowed access",
	console.ActionConsentDenied:  "A person denied access",
	console.ActionDeviceAllowed:  "A person allowed access on a device",
	console.ActionDeviceDenied:   "A person denied access on a device",
	console.ActionAccessRevoked:  "A business revoked access",
	console.ActionUninstalled:    "A business uninstalled the app",
	"secret.created":             "Client secret created",
	"secret.ended":               "Client secret ended",
	"webhook.secret_rotated":     "Secret of the webhook rotated",
	"webhook.tested":             "Test sent to the webhook",
	"delivery.redelivered":       "Delivery sent again",
	"asset.added":                "Image uploaded",
	"asset.deleted":              "Image deleted",
	"function.added":             "Function uploaded",
	"listing.in_review":          "Review of the listing began",
	"listing.changes_requested":  "Changes to the listing requested",
}

// inWords makes words of an action: "webhook.created" is "Webhook created".
func inWords(action string) string {
	if deed, ok := deeds[action]; ok {
		return deed
	}
	words := strings.NewReplacer(".", " ", "_", " ").Replace(action)
	first, size := utf8.DecodeRuneInString(words)
	return string(unicode.ToUpper(first)) + words[size:]
}
