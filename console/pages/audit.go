package pages

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/audit"
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
	audit.Entry
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

func auditRows(entries []audit.Entry) []auditRow {
	rows := make([]auditRow, 0, len(entries))
	for _, entry := range entries {
		rows = append(rows, auditRow{entry, inWords(entry.Action)})
	}
	return rows
}

// deeds are actions whose own words do not say enough.
var deeds = map[audit.Action]string{
	audit.ConsentAllowed:          "A person allowed access",
	audit.ConsentDenied:           "A person denied access",
	audit.ConsentRevoked:          "A person withdrew consent",
	audit.DeviceAllowed:           "A person allowed access on a device",
	audit.DeviceDenied:            "A person denied access on a device",
	audit.AccessRevoked:           "A business revoked access",
	audit.Uninstalled:             "A business uninstalled the app",
	audit.SecretCreated:           "Client secret created",
	audit.SecretEnded:             "Client secret ended",
	audit.WebhookSecretRotated:    "Secret of the webhook rotated",
	audit.WebhookTested:           "Test sent to the webhook",
	audit.DeliveryRedelivered:     "Delivery sent again",
	audit.AssetAdded:              "Image uploaded",
	audit.AssetDeleted:            "Image deleted",
	audit.FunctionAdded:           "Function uploaded",
	audit.ListingInReview:         "Review of the listing began",
	audit.ListingChangesRequested: "Changes to the listing requested",
}

// inWords makes words of an action: "webhook.created" is "Webhook created".
func inWords(action audit.Action) string {
	if deed, ok := deeds[action]; ok {
		return deed
	}
	words := strings.NewReplacer(".", " ", "_", " ").Replace(string(action))
	first, size := utf8.DecodeRuneInString(words)
	return string(unicode.ToUpper(first)) + words[size:]
}
