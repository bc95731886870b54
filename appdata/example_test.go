package appdata_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/optional"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

// ledger is a host with one invoice in each business.
type ledger struct{}

func (ledger) ExistingRecords(_ context.Context, _ string, asked []appdata.Record) ([]appdata.Record, error) {
	var found []appdata.Record
	for _, one := range asked { // yours asks its tables once, for all
		if one == (appdata.Record{ResourceType: "invoice", ResourceID: "inv_1"}) {
			found = append(found, one)
		}
	}
	return found, nil
}

// An app declares a field and attaches a value to an invoice.
func Example() {
	ctx := context.Background()
	store, err := sqlite.Open(ctx, sqlite.Config{Path: sqlite.Memory})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	data, err := appdata.New(appdata.Config{Store: store, Records: ledger{}}) // and Respond: idempotency.Respond, behind a guard
	if err != nil {
		log.Print(err)
		return
	}
	_, _ = store.RegisterApp(ctx, oauthstore.Registration{App: partner.App{ID: "app_1", ClientID: "cli_1", CreatedAt: time.Now()}})

	// What a console does for the app's developer.
	field, err := data.DeclareField(ctx, "app_1", appdata.Declaration{
		ResourceType: optional.Of("invoice"), Key: optional.Of("weight"), Type: optional.Of(valuestore.Number), Decimals: optional.Of(1),
	})
	if err != nil {
		log.Print(err)
		return
	}
	fmt.Println(field.Key, field.Type)

	// What the app does, with a token.
	call := func(h apierror.Handler, method, target, body string) {
		app := identity.Principal{AppID: "app_1", BusinessID: "biz_1", Scopes: identity.MustScopes("invoices:read")} // a guard finds it
		r := httptest.NewRequestWithContext(identity.WithPrincipal(ctx, app), method, target, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		apierror.Writer{}.Standard(h).ServeHTTP(w, r)
		fmt.Println(w.Code, strings.Count(w.Body.String(), `"value":`), "values")
	}
	const value = `{"values":[{"resourceType":"invoice","resourceId":"%s","key":"weight","value":%s}]}`
	call(data.PutValues, http.MethodPut, "/app-data", fmt.Sprintf(value, "inv_1", "2.5"))
	call(data.PutValues, http.MethodPut, "/app-data", fmt.Sprintf(value, "inv_1", "2.55"))
	call(data.PutValues, http.MethodPut, "/app-data", fmt.Sprintf(value, "inv_2", "2.5"))
	call(data.ListValues, http.MethodGet, "/app-data?resourceId=inv_1", "")
	// Output:
	// weight NUMBER
	// 200 1 values
	// 400 0 values
	// 404 0 values
	// 200 1 values
}
