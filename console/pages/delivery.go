package pages

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/site"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks"
)

func deliveryRoutes() []route {
	const delivery = "/apps/{appId}/webhooks/{webhookId}/deliveries/{deliveryId}"
	return []route{
		{"GET", delivery, (*visit).showDelivery},
		{"POST", delivery + "/redeliver", (*visit).redeliver},
		{"POST", delivery + "/attempt-now", (*visit).attemptNow},
	}
}

type deliveryView struct {
	App      partner.App
	Webhook  partner.Webhook
	Delivery deliveryRow
	Next     look.Left // when it is tried next
	Later    []string  // the pauses before the attempts after that one
	Body     []piece   // indented and coloured
	Attempts []attemptView
	// NoSending is why the delivery cannot be sent again; empty: it can, as far as the page
	// knows.
	NoSending string
	Todo      string // what to do about its last attempt; empty: it has not failed
	Curl      string // a command that sends it; empty: there is none for this person
}

// attemptView is one attempt, as it went over the wire.
type attemptView struct {
	partner.Attempt
	Name    string // no two attempts of a delivery have the same
	Badge   look.Badge
	Problem string // why it failed, in words
	Took    string
	Sent    []headerLine // empty: nothing was sent
	Header  []headerLine // of the response
	Text    string       // of the response
}

type headerLine struct{ Name, Value string }

// delivery returns the page of the path's delivery, with the newest attempt first.
func (v *visit) delivery() (deliveryView, error) {
	ctx, webhookID, deliveryID := v.r.Context(), v.webhookID(), v.r.PathValue("deliveryId")
	d, attempts, err := v.cfg.Console.Delivery(ctx, v.by, v.app.ID, webhookID, deliveryID)
	if err != nil {
		return deliveryView{}, err
	}
	hook, err := v.cfg.Console.Webhook(ctx, v.by, v.app.ID, webhookID)
	if err != nil {
		return deliveryView{}, err
	}
	own := v.cfg.Prefix + v.webhookPath(d.WebhookID)
	v.trail = []look.Link{{Text: webhookTitle, Href: own}, {Text: deliveriesTitle, Href: own + "/deliveries"}}
	view := deliveryView{App: v.app, Webhook: hook, NoSending: v.noSending(hook), Body: colored(d.Body)}
	rows, err := v.deliveryRows(hook, []partner.Delivery{d})
	if err != nil {
		return deliveryView{}, err
	}
	view.Delivery = rows[0]
	v.heading = d.EventType + " to " + endpoint(hook.URL)
	if v.cfg.Clock.Now().Sub(d.CreatedAt) >= v.cfg.Console.DeliveriesKept() && view.NoSending == "" {
		view.NoSending = "It cannot be sent again: it is older than " + span(v.cfg.Console.DeliveriesKept()) + "."
	}
	if d.LastError != "" && d.Attempts > 0 {
		view.Todo = remedy(d.ResponseCode, d.LastError)
	}
	if next := view.Delivery.Next; !next.IsZero() {
		view.Next = look.NewLeft(next, v.cfg.Clock.Now())
		for _, pause := range v.cfg.Console.RetryDelays()[min(d.Attempts, len(v.cfg.Console.RetryDelays())):] {
			view.Later = append(view.Later, span(pause))
		}
	}
	for _, a := range slices.Backward(attempts) {
		view.Attempts = append(view.Attempts, newAttemptView(d, a))
	}
	// The command shows no secret, but a signature that receivers accept for some minutes, so
	// it is only for developers who may rotate the secret.
	if v.isReadOnly() {
		return view, nil
	}
	req, err := v.cfg.Console.SignedRequest(ctx, v.by, v.app.ID, webhookID, deliveryID)
	if err != nil {
		return deliveryView{}, err
	}
	view.Curl, err = curl(req)
	return view, err
}

func newAttemptView(d partner.Delivery, a partner.Attempt) attemptView {
	view := attemptView{Attempt: a, Name: attemptName(d, a), Badge: look.Badge{Kind: "bad", Text: "No response"}, Problem: inWords(a.ResponseCode, a.Error), Took: took(a.Duration), Text: asText(a.ResponseBody)}
	if a.ResponseCode != 0 {
		view.Badge.Text = strconv.Itoa(a.ResponseCode)
	}
	if a.Error == "" {
		view.Badge.Kind = "ok"
	}
	if a.Signature != "" {
		view.Sent = headerLines(webhooks.RequestHeader(d, a.Signature))
	}
	view.Header = headerLines(a.ResponseHeader)
	return view
}

// attemptName names the round as well, once there is a second one.
func attemptName(d partner.Delivery, a partner.Attempt) string {
	if d.Round == 0 {
		return fmt.Sprintf("Attempt %d", a.Number)
	}
	return fmt.Sprintf("Round %d, attempt %d", a.Round+1, a.Number)
}

func headerLines(h http.Header) []headerLine {
	lines := make([]headerLine, 0, len(h))
	for _, name := range slices.Sorted(maps.Keys(h)) {
		lines = append(lines, headerLine{Name: name, Value: asText([]byte(strings.Join(h[name], ", ")))})
	}
	return lines
}

// span writes a duration of a configuration: "30 days", "24 hours", "90 minutes", "1 minute".
func span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= 2*day && d%day == 0:
		return fmt.Sprintf("%d days", d/day)
	case d >= 2*time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%d hours", d/time.Hour)
	case d == time.Hour:
		return "1 hour"
	case d == time.Minute:
		return "1 minute"
	case d < time.Minute:
		return site.Counting(int64(d.Seconds()), "second", "seconds")
	default:
		return fmt.Sprintf("%d minutes", int(d.Minutes()))
	}
}

// took is precise to the millisecond: the rest is noise.
func took(d time.Duration) string {
	if d = d.Round(time.Millisecond); d == 0 {
		return "under 1ms"
	}
	return d.String()
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
	return v.requeue(v.cfg.Console.Redeliver, "delivery-queued")
}

func (v *visit) attemptNow() error {
	return v.requeue(v.cfg.Console.AttemptNow, "delivery-hastened")
}

// requeue does something about the path's delivery, and leads back to its page.
func (v *visit) requeue(do func(_ context.Context, _ console.Actor, appID, webhookID, deliveryID string) (partner.Delivery, error), done string) error {
	webhookID, deliveryID := v.webhookID(), v.r.PathValue("deliveryId")
	if _, err := do(v.r.Context(), v.by, v.app.ID, webhookID, deliveryID); err != nil {
		view, failed := v.delivery()
		if failed != nil {
			return failed
		}
		return v.again(err, "delivery", deliveryTitle, view)
	}
	return v.to(v.webhookPath(webhookID, "deliveries", deliveryID), done)
}

// piece is a part of a text, and the class that colours it. Templates escape the text.
type piece struct{ Class, Text string }

// colored returns a body with lines and indentation, in pieces; one that is not JSON is one
// piece.
func colored(body []byte) []piece {
	var indented bytes.Buffer
	if err := json.Indent(&indented, body, "", "  "); err != nil {
		return []piece{{Text: asText(body)}}
	}
	var pieces []piece
	for text := indented.Bytes(); len(text) > 0; {
		var class string
		var end int
		switch c := text[0]; {
		case c == '"':
			class, end = "json-text", stringEnd(text)
			if bytes.HasPrefix(text[end:], []byte(":")) {
				class = "json-name"
			}
		case c == '-' || c >= '0' && c <= '9':
			class, end = "json-number", spanOf(text, "+-.0123456789Ee")
		case c >= 'a' && c <= 'z':
			class, end = "json-word", spanOf(text, "abcdefghijklmnopqrstuvwxyz")
		default:
			end = spanOf(text, "{}[]:, \n")
		}
		pieces = append(pieces, piece{class, asText(text[:end])})
		text = text[end:]
	}
	return pieces
}

// stringEnd returns the length of the JSON string that a valid text begins with.
func stringEnd(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// spanOf returns how many of the first bytes of a text are of a set, at least one.
func spanOf(text []byte, set string) int {
	end := bytes.IndexFunc(text, func(r rune) bool { return !strings.ContainsRune(set, r) })
	if end < 0 {
		end = len(text)
	}
	return max(end, 1)
}

// maxArgument is how much of a body may be an argument: Linux takes at most 128 KiB.
const maxArgument = 100 << 10

// curl returns a request as a command for a POSIX shell. By itself curl takes brackets and braces
// in a URL for several URLs, and resolves the dots of its path.
func curl(r *http.Request) (string, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	data := quoted(string(body))
	isLarge := len(data) > maxArgument
	if isLarge {
		text.WriteString("printf %s " + data + " | ")
	}
	text.WriteString("curl -i " + quoted(r.URL.String()) + " --globoff --path-as-is")
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		for _, value := range r.Header[name] {
			text.WriteString(" \\\n  -H " + quoted(name+": "+value))
		}
	}
	if isLarge { // a shell prints it by itself, without a limit
		text.WriteString(" \\\n  --data-binary @-")
	} else {
		text.WriteString(" \\\n  --data-raw " + data)
	}
	return text.String(), nil
}

// quoted returns a text as one word of a POSIX shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// asText shows untrusted bytes as text: invisible characters are escaped.
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
