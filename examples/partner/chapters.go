package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/examples/partner/client"
	"github.com/partnerkit/partnerkit/examples/receiver/inbox"
)

// profile says for which business, and for whom there.
func (s *story) profile(ctx context.Context) (business string, err error) {
	var p struct{ User, Business struct{ ID, Name string } }
	if err := s.api.Do(ctx, client.Call{Method: http.MethodGet, Path: "/profile", Out: &p}); err != nil {
		return "", err
	}
	s.out.say("   => %s, by consent of %s", p.Business.Name, p.User.Name)
	return p.Business.ID, nil
}

// reconcile reads through the Events API from where the last run stopped.
func (s *story) reconcile(ctx context.Context, business string) error {
	report, err := s.box.Reconcile(ctx, business, inbox.EventsAPI{URL: s.api.URL, Client: s.api.HTTP})
	if err != nil {
		return err
	}
	if report.Restarted {
		s.out.say("   => our place is not known any more: the service keeps 30 days; a real app reads the records again")
	}
	s.out.say("   => read: %d, new to us: %d", report.Read, report.Fresh)
	return nil
}

// newInvoice writes one. The key belongs to the invoice that we want, not to the
// request: a real app stores it first.
func (s *story) newInvoice(ctx context.Context, key string) (id string, err error) {
	var created struct{ ID string }
	err = s.api.Do(ctx, client.Call{
		Method: http.MethodPost, Path: "/invoices", Key: key,
		In:  map[string]any{"number": "PARTNER-" + key, "currency": "EUR", "total": 12500},
		Out: &created,
	})
	return created.ID, err
}

// invoice writes one invoice with two requests, and waits for its webhook.
func (s *story) invoice(ctx context.Context) (id string, err error) {
	key := rand.Text()
	if id, err = s.newInvoice(ctx, key); err != nil {
		return "", err
	}
	again, err := s.newInvoice(ctx, key)
	switch {
	case err != nil:
		return "", err
	case again != id:
		return "", errors.New("one key made two invoices")
	}
	e, err := s.seen.await(ctx, patience, isCreationOf(id))
	if err != nil {
		return "", err
	}
	s.out.say("   => %s brought %s", e.ID, id)
	return id, nil
}

func isCreationOf(invoice string) func(inbox.Event) bool {
	return func(e inbox.Event) bool {
		var data struct{ ID string }
		return e.Type == "invoice.created" && json.Unmarshal(e.Data, &data) == nil && data.ID == invoice
	}
}

// missed shuts the door while a webhook comes, and fetches the event instead. The
// service sends the webhook again later, and the inbox knows it then.
func (s *story) missed(ctx context.Context, business string) error {
	s.hooks.shut.Store(true)
	defer s.hooks.shut.Store(false)
	id, err := s.newInvoice(ctx, rand.Text())
	if err != nil {
		return err
	}
	select {
	case <-s.hooks.missed:
	case <-time.After(patience):
		return errors.New("no webhook came")
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := s.reconcile(ctx, business); err != nil {
		return err
	}
	e, err := s.seen.await(ctx, patience, isCreationOf(id))
	if err != nil {
		return err
	}
	s.out.say("   => %s was fetched", e.ID)
	return nil
}

// appData attaches a value to the invoice, reads it and takes it off.
func (s *story) appData(ctx context.Context, invoice string) error {
	type value struct {
		ID           string `json:"id,omitempty"`
		ResourceType string `json:"resourceType"`
		ResourceID   string `json:"resourceId"`
		Key          string `json:"key"`
		Value        any    `json:"value"`
	}
	note := value{ResourceType: "invoice", ResourceID: invoice, Key: "syncStatus", Value: "synced"}
	put := client.Call{Method: http.MethodPut, Path: "/app-data", Key: rand.Text(), In: map[string][]value{"values": {note}}}
	if err := s.api.Do(ctx, put); err != nil {
		return err
	}
	var got struct{ Data []value }
	if err := s.api.Do(ctx, client.Call{Method: http.MethodGet, Path: "/app-data?resourceId=" + invoice, Out: &got}); err != nil {
		return err
	}
	if len(got.Data) != 1 || got.Data[0].Value != note.Value {
		return errors.New("the value is not there")
	}
	return s.api.Do(ctx, client.Call{Method: http.MethodDelete, Path: "/app-data/" + got.Data[0].ID, Key: rand.Text()})
}
