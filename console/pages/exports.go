package pages

import (
	"net/url"
	"strings"

	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/export"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks"
)

// exportRoutes have the addresses of the lists, with the ending of a format.
func exportRoutes() []route {
	var routes []route
	for _, format := range export.Formats() {
		ending := "." + string(format)
		routes = append(routes,
			route{"GET", "/apps/{appId}/requests" + ending, (*visit).exportRequests},
			route{"GET", "/apps/{appId}/audit" + ending, (*visit).exportAudit},
			route{"GET", "/apps/{appId}/webhooks/{webhookId}/deliveries" + ending, (*visit).exportDeliveries},
		)
	}
	return routes
}

// exportLinks lead to the exports of a list with a filter.
func (v *visit) exportLinks(list string, filter url.Values) []look.Link {
	texts := map[export.Format]string{export.CSV: "CSV", export.JSONLines: "JSON lines"}
	var links []look.Link
	for _, format := range export.Formats() {
		links = append(links, look.Link{Text: texts[format], Href: v.site.ListAt(list+"."+string(format), filter, "")})
	}
	return links
}

// send responds with a file of all records that pages have, one page after the other.
func send[T any](v *visit, name string, columns []export.Column[T], read func(after string) (console.Paged[T], error)) error {
	format := export.CSV
	if strings.HasSuffix(v.r.URL.Path, "."+string(export.JSONLines)) {
		format = export.JSONLines
	}
	file := export.File[T]{Name: name, Format: format, Columns: columns}
	return file.Serve(v.w, func(yield func(T) error) error {
		for after := ""; ; {
			page, err := read(after)
			if err != nil {
				return err
			}
			for _, item := range page.Items {
				if err := yield(item); err != nil {
					return err
				}
			}
			if after = page.NextCursor; after == "" {
				return nil
			}
		}
	}, func(err error) { v.cfg.Logger.WarnContext(v.r.Context(), "export failed", "err", err) })
}

var requestColumns = []export.Column[callstore.Request]{
	{Name: "id", Value: func(r callstore.Request) any { return r.ID }},
	{Name: "time", Value: func(r callstore.Request) any { return r.At }},
	{Name: "method", Value: func(r callstore.Request) any { return r.Method }},
	{Name: "route", Value: func(r callstore.Request) any { return r.Route }},
	{Name: "status", Value: func(r callstore.Request) any { return r.Status }},
	{Name: "code", Value: func(r callstore.Request) any { return r.Code }},
	{Name: "requestId", Value: func(r callstore.Request) any { return r.RequestID }},
	{Name: "businessId", Value: func(r callstore.Request) any { return r.BusinessID }},
	{Name: "durationMs", Value: func(r callstore.Request) any { return float64(r.Took.Microseconds()) / 1000 }},
	{Name: "bytes", Value: func(r callstore.Request) any { return r.Bytes }},
	{Name: "error", Value: func(r callstore.Request) any { return r.Error }},
}

// exportRequests sends the calls that the filter of the address selects.
func (v *visit) exportRequests() error {
	filter, err := readRequestFilter(v.r.URL.Query())
	if err != nil {
		return err
	}
	return send(v, "requests", requestColumns, func(after string) (console.Paged[callstore.Request], error) {
		return v.cfg.Console.Requests(v.r.Context(), v.by, v.app.ID, filter, console.Page{After: after, Limit: console.MaxLimit})
	})
}

var auditColumns = []export.Column[audit.Entry]{
	{Name: "id", Value: func(e audit.Entry) any { return e.ID }},
	{Name: "createdAt", Value: func(e audit.Entry) any { return e.At }},
	{Name: "userId", Value: func(e audit.Entry) any { return e.UserID }},
	{Name: "action", Value: func(e audit.Entry) any { return string(e.Action) }},
	{Name: "target", Value: func(e audit.Entry) any { return e.Target }},
	{Name: "detail", Value: func(e audit.Entry) any { return e.Detail }},
	{Name: "token", Value: func(e audit.Entry) any { return e.Token }},
}

// exportAudit sends the audit log of the app.
func (v *visit) exportAudit() error {
	return send(v, "audit", auditColumns, func(after string) (console.Paged[audit.Entry], error) {
		return v.cfg.Console.Audit(v.r.Context(), v.by, v.app.ID, console.Page{After: after, Limit: console.MaxLimit})
	})
}

var deliveryColumns = []export.Column[partner.Delivery]{
	{Name: "id", Value: func(d partner.Delivery) any { return d.ID }},
	{Name: "createdAt", Value: func(d partner.Delivery) any { return d.CreatedAt }},
	{Name: "event", Value: func(d partner.Delivery) any { return d.EventType }},
	{Name: "eventId", Value: func(d partner.Delivery) any { return d.EventID }},
	{Name: "businessId", Value: func(d partner.Delivery) any { return d.BusinessID }},
	{Name: "sequence", Value: func(d partner.Delivery) any { return orNothing(d.Sequence) }},
	{Name: "status", Value: func(d partner.Delivery) any { return string(d.Status) }},
	{Name: "attempts", Value: func(d partner.Delivery) any { return d.Attempts }},
	{Name: "responseCode", Value: func(d partner.Delivery) any { return orNothing(d.ResponseCode) }},
	{Name: "lastError", Value: func(d partner.Delivery) any { return d.LastError }},
	{Name: "nextAttemptAt", Value: func(d partner.Delivery) any { return d.NextAttemptAt }},
}

// exportDeliveries sends the deliveries that the filter of the address selects.
func (v *visit) exportDeliveries() error {
	filter := v.readFilter(v.r.URL.Query())
	if filter.isRefused() {
		return apierror.Invalid("the filter is not valid")
	}
	return send(v, "deliveries", deliveryColumns, func(after string) (console.Paged[partner.Delivery], error) {
		q := filter.query
		q.After, q.Limit = after, webhooks.MaxListed
		page, err := v.cfg.Console.Deliveries(v.r.Context(), v.by, v.app.ID, v.webhookID(), q)
		return console.Paged[partner.Delivery]{Items: page.Deliveries, NextCursor: page.Next}, err
	})
}

// orNothing returns nil for zero.
func orNothing[T comparable](value T) any {
	if value == *new(T) {
		return nil
	}
	return value
}
