package site

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/internal/bodies"
)

// Form reads the values of a submitted form.
func Form(r *http.Request) (bodies.Form, error) {
	return bodies.DecodeForm(r, bodies.FormLimits{MaxBytes: 256 << 10, MaxParameters: 1000})
}

// Path joins escaped steps to a path below the prefix.
func Path(steps ...string) string {
	var joined strings.Builder
	for _, step := range steps {
		joined.WriteString("/" + url.PathEscape(step))
	}
	return joined.String()
}

// UnixLines returns the text of a text area as it was typed: browsers send every line
// break as two characters.
func UnixLines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// isText reports whether a query holds only text that a database can keep.
func isText(query string) bool {
	text, err := url.QueryUnescape(query)
	return err == nil && utf8.ValidString(text) && !strings.Contains(text, "\x00")
}

// Grouped returns a number with separators between thousands: 1,234,567.
func Grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// actions are the texts of actions whose name is not clear enough.
var actions = map[audit.Action]string{
	audit.ConsentAllowed:          "A person allowed access",
	audit.ConsentDenied:           "A person denied access",
	audit.ConsentRevoked:          "A person withdrew consent",
	audit.DeviceAllowed:           "A person allowed access on a device",
	audit.DeviceDenied:            "A person denied access on a device",
	audit.AccessRevoked:           "A business revoked access",
	audit.Uninstalled:             "A business uninstalled the app",
	audit.ConnectionTakenOver:     "A person took over a connection",
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

// InWords returns the text of an action: "webhook.created" is "Webhook created".
func InWords(action audit.Action) string {
	if words, ok := actions[action]; ok {
		return words
	}
	return Capitalized(strings.NewReplacer(".", " ", "_", " ").Replace(string(action)))
}

// Capitalized returns a text with an upper-case first letter.
func Capitalized(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}
