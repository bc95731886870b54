package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/look"
	pagesite "github.com/partnerkit/partnerkit/internal/site"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks/signature"
)

// Bounds of the viewer.
const (
	receivedKept = 100       // requests of an app
	receivedBody = 256 << 10 // bytes of a request
)

// viewer receives the webhooks of apps on the sandbox itself, so that a partner needs neither a
// program nor a tunnel to see them. The zero value is empty.
type viewer struct {
	mu   sync.Mutex
	seen map[string][]received // by client id, oldest first
	own  []string              // signatures of what was sent again
}

// received is a request that came to the viewer.
type received struct {
	At     time.Time
	Header http.Header
	Body   []byte
}

func (v *viewer) add(clientID string, one received) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.seen == nil {
		v.seen = make(map[string][]received)
	}
	all := append(v.seen[clientID], one)
	v.seen[clientID] = all[max(0, len(all)-receivedKept):]
}

// sent remembers the signature of a request that is no attempt.
func (v *viewer) sent(signature string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.own = append(v.own, signature)
	v.own = v.own[max(0, len(v.own)-receivedKept):]
}

func (v *viewer) hasSent(signature string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Contains(v.own, signature)
}

func (v *viewer) of(clientID string) []received {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.seen[clientID])
}

// viewerLink leads to the requests of an app.
type viewerLink struct {
	Name, ClientID string
	URL            string // for the app's webhook
	Path           string
	Received       int
}

func (s *server) viewerLinkOf(app partner.App) viewerLink {
	path := pagesPrefix + "/webhooks/" + url.PathEscape(app.ClientID)
	return viewerLink{Name: app.Name, ClientID: app.ClientID, URL: s.appURL + path, Path: path, Received: len(s.viewer.of(app.ClientID))}
}

func (s *server) viewerLinks(ctx context.Context) (links []viewerLink, err error) {
	apps, err := s.store.Apps(ctx, partner.AppQuery{All: true, Limit: 50})
	for _, app := range apps {
		links = append(links, s.viewerLinkOf(app))
	}
	return links, err
}

// receive takes a webhook, and anything else that is sent there.
func (s *server) receive(w http.ResponseWriter, r *http.Request) error {
	app, err := s.appOf(r.Context(), r.PathValue("clientId"))
	if err != nil {
		return err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, receivedBody))
	if err != nil {
		return apierror.Invalid("the body is too long or incomplete").WithCause(err)
	}
	s.viewer.add(app.ClientID, received{s.clock.Now(), r.Header.Clone(), body})
	w.WriteHeader(http.StatusNoContent)
	return nil
}

type receivedView struct {
	viewerLink
	Requests []requestView
}

// requestView is a received request with what the platform knows about it.
type requestView struct {
	At         time.Time
	Event      string
	IsVerified bool
	Verdict    string
	Header     string // as it was received
	Body       string
	WebhookID  string // with DeliveryID, of a delivery that can be sent again
	DeliveryID string
}

func (s *server) showReceived(w http.ResponseWriter, r *http.Request) error {
	app, err := s.appOf(r.Context(), r.PathValue("clientId"))
	if err != nil {
		return err
	}
	view := receivedView{viewerLink: s.viewerLinkOf(app)}
	for _, one := range slices.Backward(s.viewer.of(app.ClientID)) {
		shown, err := s.requestView(r.Context(), app, one)
		if err != nil {
			return err
		}
		view.Requests = append(view.Requests, shown)
	}
	return s.pages.Show(w, http.StatusOK, "received", look.Page{Frame: s.frame(r, app.Name+": received webhooks"), Data: view})
}

func (s *server) requestView(ctx context.Context, app partner.App, one received) (requestView, error) {
	shown := requestView{At: one.At, Body: string(one.Body), Event: "Not a webhook"}
	if !utf8.Valid(one.Body) {
		shown.Body = "(bytes that are not UTF-8)"
	}
	for _, name := range slices.Sorted(maps.Keys(one.Header)) {
		shown.Header += name + ": " + strings.Join(one.Header[name], ", ") + "\n"
	}
	shown.Verdict = "no delivery of this app"
	var told signature.Delivery
	if json.Unmarshal(one.Body, &told) != nil || told.ID == "" {
		return shown, nil
	}
	shown.Event = told.Type
	hooks, err := s.platform.Webhooks().List(ctx, app.ID)
	if err != nil {
		return shown, err
	}
	for _, hook := range hooks {
		delivery, attempts, err := s.platform.Webhooks().Delivery(ctx, app.ID, hook.ID, told.ID)
		if errors.Is(err, partner.ErrNotFound) || pagesite.IsStatus(err, http.StatusNotFound) {
			continue
		}
		if err != nil {
			return shown, err
		}
		shown.WebhookID, shown.DeliveryID = hook.ID, delivery.ID
		signed := one.Header.Get(signature.Header)
		isSent := s.viewer.hasSent(signed) || slices.ContainsFunc(attempts, func(a partner.Attempt) bool { return a.Signature == signed })
		switch {
		case !bytes.Equal(delivery.Body, one.Body):
			shown.Verdict = "the body is not what was signed"
		case !isSent:
			shown.Verdict = "the signature is not that of an attempt"
		default:
			shown.IsVerified, shown.Verdict = true, "the signature is right"
		}
		return shown, nil
	}
	return shown, nil
}

// replayClient sends a webhook as the platform does: it follows no redirect.
var replayClient = &http.Client{
	Timeout:       10 * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// replay sends a delivery again, with the signature of now, whatever became of it. It is no
// attempt of the delivery.
func (s *server) replay(w http.ResponseWriter, r *http.Request) error {
	app, err := s.appOf(r.Context(), r.PathValue("clientId"))
	if err != nil {
		return err
	}
	form, err := bodies.DecodeForm(r, bodies.FormLimits{})
	if err != nil {
		return err
	}
	again, err := s.platform.Webhooks().SignedRequest(r.Context(), app.ID, form.Get("webhook"), form.Get("delivery"))
	if err != nil {
		return err
	}
	s.viewer.sent(again.Header.Get(signature.Header))
	res, err := replayClient.Do(again)
	if err != nil {
		return apierror.Unavailable(err)
	}
	_ = res.Body.Close()
	return s.pages.Redirect(w, r, "/webhooks/"+url.PathEscape(app.ClientID), "sent-again")
}
