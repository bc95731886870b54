package signature_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/webhooks/signature"
)

// A receiver: it keeps what is signed, and works on it later.
func ExampleVerifier_Handler() {
	verifier, err := signature.NewVerifier(signature.Config{Secrets: []string{"whsec_example"}})
	if err != nil {
		panic(err)
	}
	inbox := make(chan signature.Delivery, 1) // a table of yours, in earnest

	mux := http.NewServeMux()
	mux.Handle("POST /hooks", verifier.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var delivery signature.Delivery
		if err := json.NewDecoder(r.Body).Decode(&delivery); err != nil {
			http.Error(w, "not a delivery", http.StatusBadRequest)
			return
		}
		inbox <- delivery
		w.WriteHeader(http.StatusNoContent)
	})))

	// What the sender does.
	signer, err := signature.NewSigner("whsec_example")
	if err != nil {
		panic(err)
	}
	body := `{"id":"dlv_1","eventId":"evt_1","type":"invoice.paid","apiVersion":"2026-09-01","businessId":"biz_1","created":1767225600,"data":{"invoiceId":"inv_1"}}`
	send := func(header string) int {
		r, w := httptest.NewRequest(http.MethodPost, "/hooks", strings.NewReader(body)), httptest.NewRecorder()
		r.Header.Set(signature.Header, header)
		mux.ServeHTTP(w, r)
		return w.Code
	}
	fmt.Println(send(signer.Sign(time.Now(), []byte(body))))
	fmt.Println(send(signer.Sign(time.Now(), []byte("something else"))))

	delivery := <-inbox
	fmt.Println(delivery.EventID, delivery.Type, string(delivery.Data))
	// Output:
	// 204
	// 401
	// evt_1 invoice.paid {"invoiceId":"inv_1"}
}

// For a day after a rotation both secrets sign, the new one first.
func ExampleSigner_Sign() {
	signer, err := signature.NewSigner("whsec_example_new", "whsec_example_old")
	if err != nil {
		panic(err)
	}
	for element := range strings.SplitSeq(signer.Sign(time.Unix(1767225600, 0), []byte("{}")), ",") {
		fmt.Println(element)
	}
	// Output:
	// t=1767225600
	// v1=7e996728ca2aa298e1adcb46b41774ab35daca144be38c0974c85bd271099448
	// v1=5fc6df375c6a447f85913acbdf36d1b58d8a462cf75dddf124276267c7aae79c
}

// Without net/http: the raw bytes and the header are all it takes.
func ExampleVerifier_Verify() {
	verifier, err := signature.NewVerifier(signature.Config{Secrets: []string{"whsec_example"}})
	if err != nil {
		panic(err)
	}
	fmt.Println(verifier.Verify("t=1767225600,v1=nonsense", []byte("{}")))
	fmt.Println(verifier.Verify("", []byte("{}")))
	// Output:
	// malformed X-Webhook-Signature header: v1 is no SHA-256 in hex
	// no X-Webhook-Signature header
}
