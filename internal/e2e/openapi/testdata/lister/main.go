// Command lister lists the invoices of a business with a client that oapi-codegen made
// of the description. It prints their ids.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"

	"github.com/partnerkit/partnerkit/internal/e2e/openapi/generated/client"
)

func main() {
	authorized := func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))
		return nil
	}
	api, err := client.NewClientWithResponses(os.Getenv("API"), client.WithRequestEditorFn(authorized))
	if err != nil {
		log.Fatal(err)
	}
	limit := 2
	page, err := api.ListInvoicesWithResponse(context.Background(), &client.ListInvoicesParams{Limit: &limit})
	if err != nil {
		log.Fatal(err)
	}
	if page.JSON200 == nil {
		log.Fatalf("%s: %s", page.Status(), page.Body)
	}
	for _, invoice := range page.JSON200.Data {
		fmt.Println(invoice.Id)
	}
}
