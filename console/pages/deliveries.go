package pages

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/site"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks"
)

func deliveriesRoutes() []route {
	const webhook = "/apps/{appId}/webhooks/{webhookId}"
	return []route{
		{"GET", webhook + "/deliveries", (*visit).showDeliveries},
		{"POST", webhook + "/redeliver", (*visit).redeliverMany},
		{"POST", webhook + "/resend", (*visit).resend},
	}
}

// perPage is how many deliveries a page lists.
const perPage = 25

type deliveryRow struct {
	partner.Delivery
	Badge    look.Badge
	Business look.Named
	Record   record
	// Next is when the delivery is tried next; zero if it is not, or if its webhook is off.
	Next    time.Time
	Problem string // why its last attempt failed, in words
}

// deliveryTable is deliveries of a webhook in rows.
type deliveryTable struct {
	Rows []deliveryRow
	// MaySend reports that failed ones can be sent again, with a button in the row, and IsMany
	// that they can be chosen for that. Their form has the id resend.
	MaySend, IsMany bool
}

// hasFailed reports whether one of the rows failed.
func hasFailed(rows []deliveryRow) bool {
	return slices.ContainsFunc(rows, func(d deliveryRow) bool { return d.Status == partner.DeliveryFailed })
}

// CanSend reports whether a row has what sends it again.
func (t deliveryTable) CanSend(d deliveryRow) bool {
	return t.MaySend && d.Status == partner.DeliveryFailed
}

func newDeliveryRow(hook partner.Webhook, d partner.Delivery) deliveryRow {
	row := deliveryRow{Delivery: d, Badge: deliveryBadge(d.Status), Record: recordOf(d), Problem: inWords(d.ResponseCode, d.LastError)}
	if hook.Enabled {
		row.Next = d.NextAttemptAt
	}
	return row
}

// deliveryRows returns deliveries with the names of their businesses.
func (v *visit) deliveryRows(hook partner.Webhook, all []partner.Delivery) ([]deliveryRow, error) {
	names, err := v.named(idsOf(all, func(d partner.Delivery) string { return d.BusinessID }))
	rows := make([]deliveryRow, 0, len(all))
	for _, d := range all {
		row := newDeliveryRow(hook, d)
		row.Business = names[d.BusinessID]
		rows = append(rows, row)
	}
	return rows, err
}

func deliveryBadge(s partner.DeliveryStatus) look.Badge {
	switch s {
	case partner.DeliveryQueued:
		return look.Badge{Kind: "info", Text: "Queued"}
	case partner.DeliveryRetrying:
		return look.Badge{Kind: "warn", Text: "Retrying"}
	case partner.DeliveryDelivered:
		return look.Badge{Kind: "ok", Text: "Delivered"}
	case partner.DeliveryFailed:
		return look.Badge{Kind: "bad", Text: "Failed"}
	}
	return look.Badge{Text: string(s)}
}

// record is the record of an event. The zero value is unknown.
type record struct{ Type, ID string }

// recordOf finds the record in the body of a delivery: data.id, of the type that the name of
// the event begins with. Events of other shapes have none.
func recordOf(d partner.Delivery) record {
	var body struct {
		Data struct {
			ID any `json:"id"`
		} `json:"data"`
	}
	about, _, isNamed := strings.Cut(d.EventType, ".")
	if json.Unmarshal(d.Body, &body) != nil || !isNamed {
		return record{}
	}
	if id, ok := body.Data.ID.(string); ok && id != "" {
		return record{Type: strings.ReplaceAll(about, "_", " "), ID: text.Line(id)}
	}
	return record{}
}

type deliveriesView struct {
	App      partner.App
	ReadOnly bool
	Webhook  partner.Webhook
	Filter   deliveryFilter
	Chips    look.Chips
	Events   []string // to choose from
	Kept     string   // how long deliveries are kept
	Tabs     []look.Link
	Table    deliveryTable
	Pager    look.Pager
	Exports  []look.Link
	Live     string // the URL that the script reloads the list from

	NoSending   string         // why nothing can be sent again; empty: it can
	Resend      string         // where the form leads that sends chosen ones again
	Again       deliveryFilter // the form that sends failed deliveries again
	IsAgainOpen bool
}

const deliveriesTitle = "Deliveries"

func (v *visit) showDeliveries() error {
	filter := v.readFilter(v.r.URL.Query())
	view, err := v.deliveries(filter)
	if err != nil {
		return err
	}
	if err := v.findOthers(); err != nil {
		return err
	}
	page := look.Page{Frame: v.frame(deliveriesTitle), Data: view}
	if text := v.redelivered(); text != "" {
		page.Notice = text
	}
	if filter.isRefused() {
		return v.site.Show(v.w, http.StatusBadRequest, "deliveries", page)
	}
	return v.site.Show(v.w, http.StatusOK, "deliveries", page)
}

// deliveries returns the page of the path's webhook with a filter. With one that is refused it
// lists nothing.
func (v *visit) deliveries(filter deliveryFilter) (deliveriesView, error) {
	hook, err := v.cfg.Console.Webhook(v.r.Context(), v.by, v.app.ID, v.webhookID())
	if err != nil {
		return deliveriesView{}, err
	}
	v.trail = []look.Link{{Text: webhookTitle, Href: v.cfg.Prefix + v.webhookPath(hook.ID)}}
	own, after := v.webhookPath(hook.ID, "deliveries"), v.r.URL.Query().Get("after")
	view := deliveriesView{
		App: v.app, ReadOnly: v.isReadOnly(), Webhook: hook, Filter: filter, Events: v.eventNames(), Again: v.failedSince(hook, filter),
		Kept: span(v.cfg.Console.DeliveriesKept()), NoSending: v.noSending(hook),
	}
	view.Chips = v.withClear(own, filter.values(), filter.chips())
	if filter.isRefused() {
		return view, nil
	}
	q := filter.query
	q.Limit, q.CountUpTo, q.WithBodies = perPage, webhooks.MaxCounted, true
	if id.Valid(id.Delivery, after) {
		q.After = after
	}
	page, err := v.cfg.Console.Deliveries(v.r.Context(), v.by, v.app.ID, v.webhookID(), q)
	if err != nil {
		return deliveriesView{}, err
	}
	values := filter.values()
	view.Resend = v.site.ListAt(v.webhookPath(hook.ID, "resend"), values, "")
	if view.Table.Rows, err = v.deliveryRows(hook, page.Deliveries); err != nil {
		return deliveriesView{}, err
	}
	view.Table.MaySend = view.NoSending == "" && !view.ReadOnly && hasFailed(view.Table.Rows)
	view.Table.IsMany = view.Table.MaySend
	view.Live, view.Tabs = v.site.ListAt(own, values, q.After), v.tabs(own, filter, page.Counts)
	view.Exports = v.exportLinks(own, values)
	values.Set("after", q.After)
	view.Pager = v.site.Pager(own, values, page.Next)
	return view, nil
}

// tabs returns a link to the deliveries of each status, with their number.
func (v *visit) tabs(own string, filter deliveryFilter, counts partner.DeliveryCounts) []look.Link {
	numbers := map[partner.DeliveryStatus]int{
		partner.DeliveryQueued: counts.Queued, partner.DeliveryRetrying: counts.Retrying, partner.DeliveryDelivered: counts.Delivered, partner.DeliveryFailed: counts.Failed,
	}
	// With a filter by event or business counting ends after so many in all.
	isCut := (filter.Event.Value != "" || filter.BusinessID.Value != "") &&
		counts.Queued+counts.Retrying+counts.Delivered+counts.Failed >= partner.ScannedDeliveries
	one := func(text string, chosen ...partner.DeliveryStatus) look.Link {
		tab := filter
		tab.Statuses = chosen
		return look.Link{Text: text, Href: v.site.ListAt(own, tab.values(), ""), Current: len(filter.Statuses) == len(chosen) && (len(chosen) == 0 || filter.Has(chosen[0]))}
	}
	tabs := append(make([]look.Link, 0, 1+len(statuses)), one("All"))
	for _, status := range statuses {
		tabs = append(tabs, one(deliveryBadge(status).Text+" "+counted(numbers[status], isCut || numbers[status] >= webhooks.MaxCounted), status))
	}
	return tabs
}

// counted returns a number of deliveries; isLeast says that there may be more.
func counted(n int, isLeast bool) string {
	if isLeast {
		return site.Grouped(int64(n)) + "+"
	}
	return site.Grouped(int64(n))
}

// failedSince returns the form that sends failed deliveries again, as it is offered: those of the
// filter, or since the webhook began to fail, or of the last day.
func (v *visit) failedSince(hook partner.Webhook, filter deliveryFilter) deliveryFilter {
	again := deliveryFilter{}
	if !filter.isRefused() {
		again = deliveryFilter{Event: filter.Event, Since: filter.Since, Until: filter.Until}
	}
	if again.Since.Value == "" {
		since := v.cfg.Clock.Now().Add(-24 * time.Hour)
		if failing := hook.Health.FailingSince; !failing.IsZero() && failing.Before(since) {
			since = failing
		}
		again.Since.Value = asMoment(since)
	}
	return again
}

// resend sends the chosen failed deliveries again, or the delivery of one row. A delivery that
// cannot be sent again is skipped; if it was the only choice, the page says why.
func (v *visit) resend() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	chosen := form["delivery"]
	if form.Has("only") {
		chosen = []string{form.Get("only")}
	}
	switch {
	case len(chosen) == 0:
		return v.listAgain(apierror.Invalid("Choose the failed deliveries to send again."))
	case len(chosen) > perPage:
		return v.listAgain(apierror.Invalid(fmt.Sprintf("Choose at most %d deliveries.", perPage)))
	}
	queued, skipped := 0, 0
	for _, deliveryID := range chosen {
		_, err := v.cfg.Console.Redeliver(v.r.Context(), v.by, v.app.ID, v.webhookID(), deliveryID)
		_, isRefused := site.Problems(err)
		switch {
		case err == nil:
			queued++
		case len(chosen) > 1 && (isRefused || site.IsStatus(err, http.StatusNotFound)):
			skipped++
		case isRefused:
			return v.listAgain(err)
		default:
			return err
		}
	}
	v.toList(queued, skipped, v.readFilter(v.r.URL.Query()).values())
	return nil
}

// listAgain shows the list of the address with the reason why nothing was sent again.
func (v *visit) listAgain(refused error) error {
	view, err := v.deliveries(v.readFilter(v.r.URL.Query()))
	if err != nil {
		return err
	}
	return v.again(refused, "deliveries", deliveriesTitle, view)
}

// toList leads back to the list, which says how many deliveries were sent again.
func (v *visit) toList(queued, skipped int, filter url.Values) {
	filter.Set("queued", strconv.Itoa(queued))
	filter.Set("skipped", strconv.Itoa(skipped))
	http.Redirect(v.w, v.r, v.site.ListAt(v.webhookPath(v.webhookID(), "deliveries"), filter, ""), http.StatusSeeOther)
}

// redeliverMany sends the failed deliveries of the form again.
func (v *visit) redeliverMany() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	again := v.readFilter(url.Values{"event": form["event"], "since": form["since"], "until": form["until"]})
	if again.Since.Value == "" {
		again.Since.Problem = "Enter the time from which failed deliveries are sent again."
	}
	focusFirst(&again.Since, &again.Until, &again.Event)
	if again.isRefused() {
		return v.deliveriesAgain(apierror.Invalid("Nothing was sent again: correct the form below."), again)
	}
	done, err := v.cfg.Console.RedeliverMany(v.r.Context(), v.by, v.app.ID, v.webhookID(), console.FailedDeliveries{
		Since: again.query.Since, Until: again.query.Until, Event: again.query.EventType,
	})
	if err != nil {
		return v.deliveriesAgain(err, again)
	}
	v.toList(done.Queued, done.Skipped, url.Values{})
	return nil
}

// deliveriesAgain shows the list with the form that was refused, and why.
func (v *visit) deliveriesAgain(refused error, again deliveryFilter) error {
	view, err := v.deliveries(deliveryFilter{})
	if err != nil {
		return err
	}
	view.Again, view.IsAgainOpen = again, true
	return v.again(refused, "deliveries", deliveriesTitle, view)
}

// redelivered describes the result of a redelivery, from the counts in the query of the
// URL. It returns "" if the query has no counts.
func (v *visit) redelivered() string {
	values := v.r.URL.Query()
	queued, err := strconv.ParseUint(values.Get("queued"), 10, 31)
	skipped, failed := strconv.ParseUint(values.Get("skipped"), 10, 31)
	if err != nil || failed != nil {
		return ""
	}
	if queued == 0 && skipped == 0 {
		return "Nothing was sent again: no failed delivery matches."
	}
	text := deliveriesOf(queued, "is", "are") + " queued again."
	if skipped > 0 {
		text += " " + deliveriesOf(skipped, "was", "were") + " skipped: the business has not connected the app, or a scope is missing, or the delivery is too old."
	}
	return text
}

func deliveriesOf(n uint64, one, many string) string {
	if n == 1 {
		return "1 delivery " + one
	}
	return fmt.Sprintf("%s deliveries %s", site.Grouped(int64(n)), many) //nolint:gosec // it has 31 bits
}
