package idempotency_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/idempotency"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

// A handler writes its row and its response in one transaction. However often the
// app sends the request, there is one row, and one response.
func ExampleRespond() {
	ctx := context.Background()
	store, err := sqlite.Open(ctx, sqlite.Config{Path: sqlite.Memory})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	keys, err := idempotency.New(idempotency.Config{Store: store})
	if err != nil {
		log.Print(err)
		return
	}

	made := 0
	create := func(w http.ResponseWriter, r *http.Request) error {
		tx, err := store.BeginTx(r.Context())
		if err != nil {
			return err
		}
		defer tx.Rollback()
		made++ // in place of rows that are written with tx
		w.Header().Set("Location", fmt.Sprintf("/invoices/%d", made))
		if err := idempotency.Respond(r.Context(), tx, http.StatusCreated, map[string]int{"number": made}); err != nil {
			return err
		}
		return tx.Commit(r.Context())
	}
	api := apierror.Writer{}.Standard(keys.Wrap(create))

	for range 2 {
		r := httptest.NewRequest(http.MethodPost, "/invoices", strings.NewReader(`{"amount": 100}`))
		r.Header.Set("Idempotency-Key", "8f14e45f")
		app := identity.Principal{AppID: "app_1", BusinessID: "biz_1", SignIn: identity.SignInOAuth} // a Surface finds it
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r.WithContext(identity.WithPrincipal(r.Context(), app)))
		fmt.Printf("%d %s %s replayed: %q\n", w.Code, w.Body, w.Header().Get("Location"), w.Header().Get(idempotency.ReplayedHeader))
	}
	// Output:
	// 201 {"number":1} /invoices/1 replayed: ""
	// 201 {"number":1} /invoices/1 replayed: "true"
}
