package catalog_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/events"
	recipe "github.com/partnerkit/partnerkit/examples/recipes/catalog"
	"github.com/partnerkit/partnerkit/partnertest"
)

func TestCatalog(t *testing.T) {
	h := partnertest.New(t, func(c *partnerkit.Config) {
		if err := recipe.Configure(c); err != nil {
			t.Fatal(err)
		}
	})
	app := h.Connect(partnertest.ConnectOptions{Scopes: []string{"tasks:read", partnerkit.EventsScope}})
	hook := h.Receiver(app, "task.added")
	record := func(data any) error {
		_, err := h.Events().Record(t.Context(), events.Draft{Type: "task.added", BusinessID: partnertest.Business, Data: data})
		return err
	}
	if err := record(recipe.Task{ID: "tsk_7", Title: "Pay the rent"}); err != nil {
		t.Fatal(err)
	}
	if err := record(map[string]int{"id": 7}); !errors.Is(err, events.ErrInvalidDraft) {
		t.Errorf("data of another form: %v", err)
	}
	h.Settle()
	if got := hook.Expect("task.added"); !strings.Contains(string(got.Raw), "Pay the rent") {
		t.Errorf("%s", got.Raw)
	}
	if got := app.Get("/events").Want(http.StatusOK); !strings.Contains(got.Body, "tsk_7") {
		t.Error(got)
	}
}
