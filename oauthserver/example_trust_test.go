package oauthserver_test

import (
	"context"
	"fmt"
	"log"

	"github.com/partnerkit/partnerkit/oauthserver"
)

// Trust the client metadata documents of a host, and those below a path of another one.
func ExampleTrustDocuments() {
	policy, err := oauthserver.TrustDocuments("agent.example", "https://chat.example/clients")
	if err != nil {
		log.Fatal(err)
	}
	options := oauthserver.Options{
		IssuerParameter: true, PrivateKeyJWT: true, HideInternalScopes: true, LoopbackPorts: oauthserver.LoopbackPortsAll,
		RegisteredScopesAsDefault: true, OptionalScope: true, PrivateUseSchemes: []string{"cursor", "vscode"},
		Documents: oauthserver.DocumentConfig{Policy: policy},
	}
	for _, url := range []string{
		"https://agent.example/client.json", "https://chat.example/clients/1", "https://chat.example/clients-of-others/1",
	} {
		trust, err := options.Documents.Policy(context.Background(), url)
		fmt.Println(url, trust.Review == oauthserver.DocumentReviewed, err)
	}
	// Output:
	// https://agent.example/client.json true <nil>
	// https://chat.example/clients/1 true <nil>
	// https://chat.example/clients-of-others/1 false <nil>
}
