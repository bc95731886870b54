package partnertest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/partnertest"
)

// invoices is the handler under test.
func invoices(w http.ResponseWriter, r *http.Request) error {
	caller, _ := identity.PrincipalFrom(r.Context())
	return apierror.WriteJSON(w, http.StatusOK, map[string]string{"invoicesOf": caller.BusinessID})
}

func Example() {
	t := new(exampleT) // in a test of yours: the *testing.T
	defer t.end()

	h := partnertest.New(t, func(c *partnerkit.Config) {
		c.Routes = []guard.Route{{Pattern: "GET /invoices", Scope: "invoices:read", Handler: invoices}}
	})
	app := h.Connect(partnertest.ConnectOptions{Scopes: []string{"invoices:read"}})
	fmt.Println(app.Get("/invoices").Want(http.StatusOK).Text("invoicesOf"))

	receiver := h.Receiver(app, "invoice.paid")
	receiver.Respond(http.StatusServiceUnavailable) // the first attempt fails
	h.Record(events.Draft{Type: "invoice.paid", Data: map[string]string{"id": "inv_1"}})
	receiver.Expect("invoice.paid")
	h.Advance(time.Hour) // the retry is due
	fmt.Println(string(receiver.Expect("invoice.paid").Data))

	app.Get("/invoices").Want(http.StatusUnauthorized) // the access token has expired
	app.Refresh()
	app.Get("/invoices").Want(http.StatusOK)
	// Output:
	// biz_bakery
	// {"id":"inv_1"}
}

// exampleT stands in for a *testing.T, which an example does not have.
type exampleT struct {
	testing.TB
	cleanups []func()
}

func (t *exampleT) Helper()                      {}
func (t *exampleT) Context() context.Context     { return context.Background() }
func (t *exampleT) Output() io.Writer            { return io.Discard }
func (t *exampleT) Cleanup(clean func())         { t.cleanups = append(t.cleanups, clean) }
func (t *exampleT) Errorf(text string, a ...any) { fmt.Printf(text+"\n", a...) }
func (t *exampleT) Fatalf(text string, a ...any) { panic(fmt.Sprintf(text, a...)) }
func (t *exampleT) Fatal(a ...any)               { panic(fmt.Sprint(a...)) }

func (t *exampleT) end() {
	for i := len(t.cleanups) - 1; i >= 0; i-- {
		t.cleanups[i]()
	}
}
