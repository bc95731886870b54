package console

import (
	"net/http"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/jsonapi"
	"github.com/partnerkit/partnerkit/internal/stamp"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks"
)

func (c *Console) deliveryRoutes() []route {
	const webhook = "/developer/apps/{appId}/webhooks/{webhookId}"
	return []route{
		{"POST " + webhook + "/test", c.sendTest},
		{"POST " + webhook + "/redeliver", c.redeliverMany},
		{"GET " + webhook + "/deliveries", c.listDeliveries},
		{"GET " + webhook + "/deliveries/{deliveryId}", c.serveDelivery},
		{"POST " + webhook + "/deliveries/{deliveryId}/redeliver", c.redeliver},
		{"POST " + webhook + "/deliveries/{deliveryId}/attempt-now", c.attemptNow},
	}
}

type deliveryPayload struct {
	ID            string                 `json:"id"`
	Event         string                 `json:"event"`
	EventID       *string                `json:"eventId"`
	BusinessID    string                 `json:"businessId"`
	Sequence      *int64                 `json:"sequence"`
	Status        partner.DeliveryStatus `json:"status"`
	Attempts      int                    `json:"attempts"` // since it was queued
	ResponseCode  *int                   `json:"responseCode"`
	LastError     *string                `json:"lastError"`
	NextAttemptAt *stamp.Time            `json:"nextAttemptAt"`
	CreatedAt     stamp.Time             `json:"createdAt"`
}

func newDeliveryPayload(d partner.Delivery) deliveryPayload {
	return deliveryPayload{
		ID: d.ID, Event: d.EventType, EventID: jsonapi.OrNull(d.EventID), BusinessID: d.BusinessID, Sequence: jsonapi.OrNull(d.Sequence), Status: d.Status, Attempts: d.Attempts, ResponseCode: jsonapi.OrNull(d.ResponseCode),
		LastError: jsonapi.OrNull(d.LastError), NextAttemptAt: stamp.OrNull(d.NextAttemptAt), CreatedAt: stamp.Of(d.CreatedAt),
	}
}

// attemptPayload is one attempt, those before a redelivery included.
type attemptPayload struct {
	Round        int        `json:"round"` // 1 until it is sent again
	Number       int        `json:"number"`
	At           stamp.Time `json:"at"`
	DurationMS   int64      `json:"durationMs"`
	ResponseCode *int       `json:"responseCode"`
	Error        *string    `json:"error"`
	// ResponseHeaders are the beginning; several values of one name are joined by commas.
	ResponseHeaders map[string]string `json:"responseHeaders"`
	ResponseBody    *string           `json:"answer"` // the beginning, as text
	Signature       string            `json:"signature"`
}

func newAttemptPayload(a partner.Attempt) attemptPayload {
	payload := attemptPayload{
		Round: a.Round + 1, Number: a.Number, At: stamp.Of(a.StartedAt), DurationMS: a.Duration.Milliseconds(), ResponseCode: jsonapi.OrNull(a.ResponseCode),
		Error: jsonapi.OrNull(a.Error), Signature: a.Signature,
	}
	if a.ResponseCode != 0 {
		response := strings.ToValidUTF8(string(a.ResponseBody), "\uFFFD")
		payload.ResponseBody, payload.ResponseHeaders = &response, map[string]string{}
		for name, values := range a.ResponseHeader {
			payload.ResponseHeaders[name] = strings.Join(values, ", ")
		}
	}
	return payload
}

func (c *Console) sendTest(w http.ResponseWriter, r *http.Request, by Actor) error {
	var test struct {
		Event string `json:"event"`
	}
	if err := readOptional(r, &test); err != nil {
		return err
	}
	queued, err := c.SendTest(r.Context(), by, r.PathValue("appId"), r.PathValue("webhookId"), test.Event)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusAccepted, newDeliveryPayload(queued))
}

// countsPayload is how many deliveries have a status, each at most webhooks.MaxCounted.
type countsPayload struct {
	Queued    int `json:"queued"`
	Retrying  int `json:"retrying"`
	Delivered int `json:"delivered"`
	Failed    int `json:"failed"`
}

func (c *Console) listDeliveries(w http.ResponseWriter, r *http.Request, by Actor) error {
	q, err := c.readDeliveryQuery(r.URL.RawQuery)
	if err != nil {
		return err
	}
	page, err := c.Deliveries(r.Context(), by, r.PathValue("appId"), r.PathValue("webhookId"), q)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, struct {
		jsonapi.Page[deliveryPayload]
		Counts countsPayload `json:"counts"`
	}{jsonapi.NewPage(page.Deliveries, page.Next, newDeliveryPayload), countsPayload(page.Counts)})
}

// ParseDeliveryQuery reads the query of a list of deliveries, with a validation error of apierror.
func (c *Console) ParseDeliveryQuery(r *http.Request) (partner.DeliveryQuery, error) {
	return c.readDeliveryQuery(r.URL.RawQuery)
}

// WriteDeliveries responds with a page of deliveries of several webhooks, without their bodies.
func WriteDeliveries(w http.ResponseWriter, page partner.DeliveryPage) error {
	type payload struct {
		deliveryPayload
		WebhookID string `json:"webhookId"`
	}
	return apierror.WriteJSON(w, http.StatusOK, struct {
		jsonapi.Page[payload]
		Counts countsPayload `json:"counts"`
	}{jsonapi.NewPage(page.Deliveries, page.Next, func(d partner.Delivery) payload { return payload{newDeliveryPayload(d), d.WebhookID} }), countsPayload(page.Counts)})
}

// readDeliveryQuery reads the query of a list of deliveries. An unknown
// parameter or value is rejected: ignoring a filter would list the wrong deliveries.
func (c *Console) readDeliveryQuery(raw string) (partner.DeliveryQuery, error) {
	q := jsonapi.ParseQuery(raw)
	q.Only("status", "event", "businessId", "eventId", "since", "until", "after", "limit")
	asked := partner.DeliveryQuery{
		EventType: q.Text("event"), BusinessID: q.Text("businessId"), EventID: q.Text("eventId"),
		Since: q.Time("since"), Until: q.Time("until"),
		After: q.Text("after"), Limit: q.Number("limit", webhooks.MaxListed, webhooks.MaxListed), CountUpTo: webhooks.MaxCounted,
	}
	if q.Has("status") {
		for one := range strings.SplitSeq(q.Text("status"), ",") {
			switch status := partner.DeliveryStatus(one); status {
			case partner.DeliveryQueued, partner.DeliveryRetrying, partner.DeliveryDelivered, partner.DeliveryFailed:
				asked.Statuses = append(asked.Statuses, status)
			default:
				q.Problems.Add("status", "must be queued, retrying, delivered or failed, or several of them separated by commas")
			}
		}
	}
	if _, ok := c.cfg.Events.Lookup(asked.EventType); !ok && q.Has("event") {
		q.Problems.Add("event", "%.64q is not in the catalog", asked.EventType)
	}
	if q.Has("businessId") && asked.BusinessID == "" {
		q.Problems.Add("businessId", "must not be empty")
	}
	if q.Has("eventId") && !id.Valid(id.Event, asked.EventID) {
		q.Problems.Add("eventId", "must be the id of an event")
	}
	if q.Has("after") && !id.Valid(id.Delivery, asked.After) {
		q.Problems.Add("after", "must be the nextCursor of a page")
	}
	return asked, q.Err()
}

func (c *Console) serveDelivery(w http.ResponseWriter, r *http.Request, by Actor) error {
	delivery, attempts, err := c.Delivery(r.Context(), by, r.PathValue("appId"), r.PathValue("webhookId"), r.PathValue("deliveryId"))
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, struct {
		deliveryPayload
		Body    string           `json:"body"` // byte for byte, so that its signature can be verified
		History []attemptPayload `json:"history"`
	}{newDeliveryPayload(delivery), string(delivery.Body), jsonapi.Convert(attempts, newAttemptPayload)})
}

func (c *Console) redeliver(w http.ResponseWriter, r *http.Request, by Actor) error {
	if err := readNothing(r); err != nil {
		return err
	}
	queued, err := c.Redeliver(r.Context(), by, r.PathValue("appId"), r.PathValue("webhookId"), r.PathValue("deliveryId"))
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusAccepted, newDeliveryPayload(queued))
}

func (c *Console) attemptNow(w http.ResponseWriter, r *http.Request, by Actor) error {
	if err := readNothing(r); err != nil {
		return err
	}
	queued, err := c.AttemptNow(r.Context(), by, r.PathValue("appId"), r.PathValue("webhookId"), r.PathValue("deliveryId"))
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusAccepted, newDeliveryPayload(queued))
}

func (c *Console) redeliverMany(w http.ResponseWriter, r *http.Request, by Actor) error {
	var body redelivery
	if err := readBody(r, &body, func() error { _, err := c.failedDeliveries(body); return err }); err != nil {
		return err
	}
	which, err := c.failedDeliveries(body)
	if err != nil {
		return err
	}
	done, err := c.RedeliverMany(r.Context(), by, r.PathValue("appId"), r.PathValue("webhookId"), which)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusAccepted, done)
}

// redelivery is the body of redeliverMany.
type redelivery struct {
	Since string  `json:"since"`
	Until *string `json:"until"`
	Event *string `json:"event"`
}

// failedDeliveries returns what a body asks for, or a validation error.
func (c *Console) failedDeliveries(body redelivery) (which FailedDeliveries, _ error) {
	var v apierror.Validation
	since, ok := jsonapi.ParseTime(body.Since)
	if !ok {
		v.Add("since", "must be a time in ISO 8601")
	}
	which.Since = since
	if body.Until != nil {
		if which.Until, ok = jsonapi.ParseTime(*body.Until); !ok {
			v.Add("until", "must be a time in ISO 8601")
		}
	}
	if body.Event != nil {
		which.Event = *body.Event
		if _, ok := c.cfg.Events.Lookup(which.Event); !ok {
			v.Add("event", "%.64q is not in the catalog", which.Event)
		}
	}
	return which, v.Err()
}
