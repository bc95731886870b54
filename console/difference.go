package console

import (
	"context"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/partner"
)

// maxChangedValue is how many characters of a value the audit log keeps.
const maxChangedValue = 200

// difference describes the changed members, for the detail of an audit entry. It has
// no secrets: they are never given to it.
type difference []string

// add notes a member that has another value than before.
func (d *difference) add(member, before, after string) {
	if before != after {
		*d = append(*d, member+": "+changedValue(before)+" → "+changedValue(after))
	}
}

// addURL is add for an address whose query may be a secret of the partner's.
func (d *difference) addURL(member, before, after string) {
	hiddenBefore, hiddenAfter := hideQuery(before), hideQuery(after)
	if before != after && hiddenBefore == hiddenAfter {
		*d = append(*d, member+": another query")
		return
	}
	d.add(member, hiddenBefore, hiddenAfter)
}

func (d difference) String() string { return strings.Join(d, "; ") }

// changedValue returns a value as the log has it.
func changedValue(value string) string {
	if value == "" {
		return "none"
	}
	if all := []rune(value); len(all) > maxChangedValue {
		return string(all[:maxChangedValue]) + "…"
	}
	return value
}

func hideQuery(address string) string {
	before, _, found := strings.Cut(address, "?")
	if found {
		return before + "?…"
	}
	return before
}

// changedApp returns the entry of a change to an app.
func (a Actor) changedApp(before, after partner.App) audit.Entry {
	var d difference
	d.add("name", before.Name, after.Name)
	d.addURL("appUrl", before.AppURL, after.AppURL)
	d.add("redirectUris", strings.Join(before.RedirectURIs, " "), strings.Join(after.RedirectURIs, " "))
	d.add("scopes", before.Scopes.String(), after.Scopes.String())
	d.add("pinnedVersion", before.PinnedVersion, after.PinnedVersion)
	d.add("customBusinessId", before.CustomBusinessID, after.CustomBusinessID)
	entry := a.did(audited.AppUpdated, after.ID, "")
	entry.Detail = d.String()
	return entry
}

// changedWebhook returns the entry of a change to a webhook.
func (a Actor) changedWebhook(before, after partner.Webhook) audit.Entry {
	var d difference
	d.addURL("url", before.URL, after.URL)
	d.add("events", strings.Join(slices.Sorted(slices.Values(before.Events)), " "), strings.Join(slices.Sorted(slices.Values(after.Events)), " "))
	d.add("enabled", yesNo(before.Enabled), yesNo(after.Enabled))
	entry := a.did(audited.WebhookUpdated, after.AppID, after.ID)
	entry.Detail = d.String()
	return entry
}

func yesNo(value bool) string { //nolint:revive // the value, not a switch
	if value {
		return "yes"
	}
	return "no"
}

// UserName returns the name of a user of the audit log; empty if the host does not name users or
// does not know this one.
func (c *Console) UserName(ctx context.Context, userID string) (string, error) {
	if c.cfg.UserName == nil || userID == "" {
		return "", nil
	}
	name, err := c.cfg.UserName(ctx, userID)
	return text.Line(name), err
}
