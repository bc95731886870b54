//go:build linux

package crash_test

import (
	"fmt"
	"sync"
)

// load is the clients of the servers.
type load struct {
	writers []*writer
	keepers []*keeper
	mover   *mover
}

// connectAll installs the apps and starts all clients.
func (w *fixture) connectAll() {
	w.Helper()
	var mu sync.Mutex
	var connecting sync.WaitGroup
	for i, business := range w.businesses {
		c := w.client(fmt.Sprint("setup ", i), nil)
		connecting.Go(func() {
			for _, a := range append([]*app{w.audit}, w.writers...) {
				t, ok := c.connect(a, business)
				if !ok {
					w.Errorf("%s cannot be connected in %s", a.Name, business)
					return
				}
				mu.Lock()
				w.feeds = append(w.feeds, w.newFeed(a, business, t.Access))
				if a != w.audit {
					w.load.writers = append(w.load.writers, &writer{
						name: a.Name + " in " + business, as: a, business: business, access: t.Access, noted: map[string]string{},
					})
				}
				mu.Unlock()
			}
		})
	}
	connecting.Wait()
	if w.Failed() {
		w.FailNow()
	}
}

// begin starts all clients.
func (w *fixture) begin() {
	w.connectAll()
	for _, one := range w.load.writers {
		w.let(one.name, w.pace, one.act)
	}
	for i, a := range w.keepers {
		k := &keeper{as: a, business: w.businesses[i%len(w.businesses)]}
		w.load.keepers = append(w.load.keepers, k)
		w.let(a.Name, w.pace, k.act)
	}
	w.load.mover = &mover{as: w.mover, business: w.businesses[0]}
	w.let("mover", 2*w.pace, w.load.mover.act)
	w.let("device", 2*w.pace, (&device{as: w.devices, business: w.businesses[1]}).act)
	w.let("developer", 2*w.pace, (&developer{app: w.console}).act)
	for _, business := range w.businesses {
		name := "teller in " + business
		w.let(name, 2*w.pace, w.teller(name, business))
	}
}
