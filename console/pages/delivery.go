package pages

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/webhooks"
)

func deliveryRoutes() []route {
	const delivery = "/apps/{appId}/webhooks/{webhookId}/deliveries/{deliveryId}"
	return []route{
		{"GET", delivery, (*visit).showDelivery},
		{"POST", delivery + "/redeliver", (*visit).redeliver},
	}
}

type deliveryView struct {
	App      oauthserver.App
	Delivery deliveryRow
	Next     look.Left // when it is tried next
	Pretty   string    // the body, indented
	Attempts []attemptView

	MaxAttempts int
}

// attemptView is one attempt, as it went over the wire.
type attemptView struct {
	webhooks.Attempt
	Badge  look.Badge
	Took   string
	Header []headerLine // empty: nothing was sent
	Text   string       // of the answer
}

type headerLine struct{ Name, Value string }

// delivery is the page of the path's delivery, with the newest attempt first.
func (v *visit) delivery() (deliveryView, error) {
	d, attempts, err := v.cfg.Console.Delivery(v.r.Context(), v.by, v.ref())
	if err != nil {
		return deliveryView{}, err
	}
	v.trail = []look.Link{{Text: webhookTitle, Href: v.cfg.Prefix + v.webhookPath(d.WebhookID)}}
	view := deliveryView{App: v.app, Delivery: newDeliveryRow(d), Pretty: pretty(d.Body), MaxAttempts: webhooks.MaxAttempts}
	if !d.NextAttemptAt.IsZero() {
		view.Next = look.NewLeft(d.NextAttemptAt, v.cfg.Clock.Now())
	}
	for _, a := range slices.Backward(attempts) {
		view.Attempts = append(view.Attempts, newAttemptView(d, a))
	}
	return view, nil
}

func newAttemptView(d webhooks.Delivery, a webhooks.Attempt) attemptView {
	view := attemptView{Attempt: a, Badge: look.Badge{Kind: "bad", Text: "No answer"}, Took: took(a.Duration), Text: asText(a.Answer)}
	if a.ResponseCode != 0 {
		view.Badge.Text = strconv.Itoa(a.ResponseCode)
	}
	if a.Error == "" {
		view.Badge.Kind = "ok"
	}
	if a.Signature == "" {
		return view
	}
	header := d.Header(a.Signature)
	for _, name := range slices.Sorted(maps.Keys(header)) {
		view.Header = append(view.Header, headerLine{Name: name, Value: strings.Join(header[name], ", ")})
	}
	return view
}

// took is precise to the millisecond: the rest is noise.
func took(d time.Duration) string {
	if d = d.Round(time.Millisecond); d == 0 {
		return "under 1ms"
	}
	return d.String()
}

// pretty is a body with lines and indentation, for reading.
func pretty(body []byte) string {
	var indented bytes.Buffer
	if err := json.Indent(&indented, body, "", "  "); err != nil {
		return asText(body)
	}
	return indented.String()
}

// asText shows bytes of anybody's as text: what cannot be seen is escaped.
func asText(raw []byte) string {
	var text strings.Builder
	for len(raw) > 0 {
		r, size := utf8.DecodeRune(raw)
		switch {
		case r == '\n' || r == '\t' || unicode.IsPrint(r) && (r != utf8.RuneError || size > 1):
			text.Write(raw[:size])
		case size == 1:
			text.WriteString(`\x` + strconv.FormatUint(uint64(raw[0])|1<<8, 16)[1:])
		default:
			text.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
		raw = raw[size:]
	}
	return text.String()
}

const deliveryTitle = "Delivery"

func (v *visit) showDelivery() error {
	view, err := v.delivery()
	if err != nil {
		return err
	}
	return v.show("delivery", deliveryTitle, view)
}

func (v *visit) redeliver() error {
	if _, err := v.cfg.Console.Redeliver(v.r.Context(), v.by, v.ref()); err != nil {
		view, failed := v.delivery()
		if failed != nil {
			return failed
		}
		return v.again(err, "delivery", deliveryTitle, view)
	}
	ref := v.ref()
	return v.to(v.webhookPath(ref.WebhookID, "deliveries", ref.DeliveryID), "delivery-queued")
}
