package browser_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// CON-02: a second click on a button sends nothing. A form whose response takes longer than
// one second says so. The page can send the form again when it comes from the history.
func TestFormIsSentOnce_CON02(t *testing.T) {
	t.Parallel()
	s := serve(t)
	g, b := s.gate(), s.enter(open(t), "usr_dev", "biz_ledgerlink_sandbox")
	b.visit(g.origin + "/developer/apps/app_sync/webhooks")
	before := get[int](b, `document.querySelectorAll("main tbody tr").length`)
	b.submit("New webhook")
	b.fill("URL", s.partner.origin+"/webhooks/once")

	// The browser evaluates nothing for the test before the response is there, so that the
	// page itself opens the gate.
	get[any](b, `void (window.before = true, setInterval(() => {
		const button = thing("Create webhook"), state = document.querySelector("[role=status].working");
		if (window.told || !button.disabled || state.textContent !== "Working…") return;
		window.told = true;
		button.form.requestSubmit(); // as the Enter key does
		fetch("/open");
	}, 20))`)
	at := get[struct{ X, Y float64 }](b, `spot(thing("Create webhook"))`)
	b.do(chromedp.MouseClickXY(at.X, at.Y, chromedp.ClickCount(2)), chromedp.MouseClickXY(at.X, at.Y))
	b.await(`!window.before && document.readyState === "complete"`)
	b.secret()
	if n := g.forms.Load(); n != 1 {
		t.Errorf("the form was sent %d times", n)
	}

	b.do(chromedp.NavigateBack())
	b.await(`location.pathname.endsWith("/webhooks/new") && !thing("Create webhook").disabled && !document.querySelector(".working")`)
	b.visit(g.origin + "/developer/apps/app_sync/webhooks")
	if after := get[int](b, `document.querySelectorAll("main tbody tr").length`); after != before+1 {
		t.Errorf("%d webhooks were created", after-before)
	}
}

// gate is a proxy of the app host that holds forms until it is opened.
type gate struct {
	origin string
	forms  atomic.Int32 // that arrived
	opened chan struct{}
	open   func()
}

func (s *service) gate() *gate {
	s.t.Helper()
	app, err := url.Parse(s.App)
	if err != nil {
		s.t.Fatal(err)
	}
	g, proxy := &gate{opened: make(chan struct{})}, httputil.NewSingleHostReverseProxy(app)
	g.open = sync.OnceFunc(func() { close(g.opened) })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/open" {
			g.open()
			return
		}
		if r.Method == http.MethodPost {
			g.forms.Add(1)
			select {
			case <-g.opened:
			case <-r.Context().Done():
				return
			}
		}
		proxy.ServeHTTP(w, r)
	}))
	s.t.Cleanup(server.Close)
	g.origin = strings.Replace(server.URL, "127.0.0.1", "localhost", 1) // as in the cookies
	return g
}

// CON-02: an app is created with the keyboard alone. After a mistake the focus is on the
// field that has it, and everything else is still there.
func TestKeyboard_CON02(t *testing.T) {
	t.Parallel()
	s := serve(t)
	b := s.enter(open(t), "usr_dev", "biz_ledgerlink_sandbox")
	b.visit(s.App + "/developer/apps/new")
	b.tabTo(`labelled("Name").control`)
	b.keys("Keyed")
	b.tabTo(`labelled("Confidential").control`)
	b.keys(kb.ArrowDown)
	b.tabTo(`labelled("Redirect URIs").control`)
	b.keys("https://localhost/ok" + kb.Enter + "http://partner.example/")
	b.tabTo(`document.querySelector("[name=scopes]")`)
	b.keys(" ")
	b.tabTo(`labelled("App URL").control`)
	b.enter(kb.Enter) // in a field of one line it sends the form
	b.sees("Line 2 is not https")
	const state = `[document.activeElement.id, document.activeElement.getAttribute("aria-invalid"), words(document.getElementById(document.activeElement.getAttribute("aria-describedby").split(" ").at(-1))),
		labelled("Name").control.value, labelled("Public").control.checked + "", document.querySelector("[name=scopes]").checked + ""].join("|")`
	if got := get[string](b, state); !strings.HasPrefix(got, "redirect_uris|true|Line 2 is not https") || !strings.HasSuffix(got, "|Keyed|true|true") {
		t.Errorf("after the mistake: %s", got)
	}
	get[any](b, "void document.activeElement.setSelectionRange(0, 1e6)")
	b.keys("https://partner.example/")
	b.tabTo(`thing("Create app")`)
	b.enter(" ")
	b.sees("The app was created")

	// A question can be cancelled.
	b.visit(s.App + "/developer/apps/app_sync/webhooks")
	b.submit(get[string](b, `words(document.querySelector("main tbody a"))`))
	b.tabTo(`thing("Delete the webhook")`)
	b.keys(kb.Enter)
	b.await(`thing("Delete it") && document.activeElement === thing("Delete the webhook Cancel")`)
	b.keys(kb.Enter)
	b.await(`thing("Delete the webhook") && !document.querySelector("details.ask[open]")`)
}

// tabTo presses Tab until an element has the focus.
func (b *tab) tabTo(element string) {
	b.t.Helper()
	for range 100 {
		b.keys(kb.Tab)
		if get[bool](b, "document.activeElement === "+element) {
			return
		}
	}
	b.t.Fatalf("Tab does not lead to %s\n%s", element, b.where())
}

// keys presses keys.
func (b *tab) keys(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// enter presses a key that sends a form, and waits for the next page.
func (b *tab) enter(key string) {
	b.t.Helper()
	get[any](b, "void (window.before = true)")
	b.keys(key)
	b.await(`!window.before && document.readyState === "complete"`)
}
