//go:build linux

package crash_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// made is the prefix of the names of webhooks that were created in the console.
const made = "made"

// developer creates, tests and deletes webhooks.
type developer struct {
	app    *app
	cookie string
	life   int64
	next   int
	hooks  []madeHook // as they were acknowledged
}

type madeHook struct{ id, name, delivery string }

func (d *developer) path(more ...string) string {
	return "/developer/apps/" + d.app.ID + "/webhooks" + strings.Join(more, "")
}

func (d *developer) act(c *client) {
	if d.cookie == "" {
		d.cookie = c.signIn(c.businesses[0])
		return
	}
	if life := c.life.Load(); life != d.life {
		if d.look(c) {
			d.life = life
		}
		return
	}
	if len(d.hooks) < 15 { // of the 20 that an app may have
		d.make(c)
		return
	}
	// One whose delivery is still to come would be right not to send it.
	if i := slices.IndexFunc(d.hooks, func(h madeHook) bool { return c.receiver.has(h.delivery) }); i >= 0 {
		d.remove(c, i)
	}
}

// make adds a webhook and sends a test delivery, which must arrive.
func (d *developer) make(c *client) {
	d.next++
	name := fmt.Sprintf("%s%d", made, d.next)
	a := c.send(call{method: "POST", path: d.path(), cookie: d.cookie, json: map[string]any{
		"url": c.receiver.URL + "/" + name, "events": []string{"invoice.created"},
	}})
	if a.Status != http.StatusCreated {
		c.unexpected("a webhook", a)
		d.life = 0 // look first whether it is there
		return
	}
	var hook struct{ ID, Secret string }
	a.read(&hook)
	c.acked("webhooks made")
	c.receiver.knows(name, hook.Secret)
	h := madeHook{id: hook.ID, name: name}
	test, _ := c.insist(func() response {
		return c.send(call{method: "POST", path: d.path("/", h.id, "/test"), cookie: d.cookie})
	})
	if test.Status == http.StatusAccepted {
		var delivery struct{ ID string }
		test.read(&delivery)
		h.delivery = delivery.ID
		c.promised(h.delivery, "a test of "+h.id)
		c.acked("test deliveries")
	} else {
		c.unexpected("a test delivery", test)
	}
	d.hooks = append(d.hooks, h)
}

// remove deletes a webhook.
func (d *developer) remove(c *client, i int) {
	h := d.hooks[i]
	a, isRepeated := c.insist(func() response { return c.send(call{method: "DELETE", path: d.path("/", h.id), cookie: d.cookie}) })
	if !a.isOK() && !(isRepeated && a.Status == http.StatusNotFound) {
		c.unexpected("the end of a webhook", a)
		return
	}
	c.acked("webhooks deleted")
	d.hooks = slices.Delete(d.hooks, i, i+1)
}

// look compares the webhooks that exist with those that were acknowledged. It deletes a
// webhook whose response was lost, because its secret is unknown.
func (d *developer) look(c *client) bool {
	a := c.send(call{method: "GET", path: d.path(), cookie: d.cookie})
	if !a.isOK() {
		c.unexpected("the webhooks", a)
		return false
	}
	var list struct{ Data []struct{ ID, URL string } }
	a.read(&list)
	for _, h := range d.hooks {
		if !slices.ContainsFunc(list.Data, func(one struct{ ID, URL string }) bool { return one.ID == h.id }) {
			c.violation("webhook %s was acknowledged and is gone", h.id)
		}
	}
	for _, one := range list.Data {
		if slices.ContainsFunc(d.hooks, func(h madeHook) bool { return h.id == one.ID }) {
			continue
		}
		if !strings.HasSuffix(one.URL, fmt.Sprintf("/%s%d", made, d.next)) {
			c.violation("webhook %s at %s: its end was acknowledged, or no developer created it", one.ID, one.URL)
		}
		if a := c.send(call{method: "DELETE", path: d.path("/", one.ID), cookie: d.cookie}); !a.isOK() {
			c.unexpected("the end of a webhook", a)
			return false
		}
	}
	return true
}
