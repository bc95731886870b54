package browser_test

import (
	"net/http"
	"testing"
)

// clicks counts what a person does on pages.
type clicks struct {
	*tab
	n int
}

func (c *clicks) submit(text string, within ...string) {
	c.t.Helper()
	c.n++
	c.tab.submit(text, within...)
}

// follow clicks on an element that leads to another page.
func (c *clicks) follow(selector string) {
	c.t.Helper()
	c.n++
	get[any](c.tab, "void (window.before = true)")
	c.click("document.querySelector(" + quote(selector) + ")")
	c.await(`!window.before && document.readyState === "complete"`)
}

// did checks that a task took at most so many clicks, and begins to count the next one.
func (c *clicks) did(task string, most int) {
	c.t.Helper()
	if c.n > most {
		c.t.Errorf("%s takes %d clicks, want at most %d", task, c.n, most)
	}
	c.n = 0
}

// CON-02: what developers do every day takes a few clicks, from the dashboard of the app on.
func TestTasks_CON02(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.partner.responses(http.StatusUnauthorized, "who are you?")
	ada := s.enter(open(t), "usr_ada", "biz_bakery")
	token := s.connect(ada)
	s.write(token, "/customers", map[string]any{"name": "Hill & Sons"}, nil)
	if status, body := s.send(request{method: "GET", path: "/journal-entries", token: token}); status != http.StatusForbidden {
		t.Fatalf("a call without its scope: %d %s", status, body)
	}
	s.attempts("/webhooks/sync", 0, 2)
	for range 5 {
		s.advance(6 * 3600)
	}
	s.attempts("/webhooks/sync", 0, 12)
	s.send(request{method: "GET", path: "/journal-entries", token: s.connect(ada)}) // the first token has expired
	const app = "/developer/apps/app_sync"
	c := &clicks{tab: s.enter(open(t), "usr_dev", "biz_ledgerlink_sandbox")}

	c.visit(s.App + app)
	c.sees("Calls by hour")
	c.follow(".causes a[href*='status=403']")
	c.follow("#requests tbody a")
	c.did("finding out why a call was refused", 3)
	c.sees("journal:read")

	c.visit(s.App + app)
	c.follow("[aria-labelledby=hooks] tbody a")
	c.sees("Check your signature verification")
	s.partner.responses(http.StatusOK, "thanks")
	c.follow("#deliveries [name=only]")
	c.did("sending a failed delivery again", 4)
	c.sees("1 delivery is queued again.")
	s.attempts("/webhooks/sync", 0, 13)

	id := get[string](c.tab, `document.querySelector("#deliveries tbody a").id`)
	c.visit(s.App + app)
	get[any](c.tab, `(() => { document.getElementById("find").value = `+quote(id)+`; document.querySelector("form.find").requestSubmit(); })()`)
	c.n++ // into the field; the id is pasted, and Enter sends it
	c.await(`document.getElementById("delivery") && location.pathname.endsWith(` + quote("/"+id) + `)`)
	c.did("finding a delivery by its id", 2)

	c.visit(s.App + app)
	c.submit("Quick start", ".aside")
	c.submit("Get a sandbox token")
	c.sees("Waiting for your first call")
	c.did("the first call, but for a paste", 3)
}
