// Command verify checks the signature of a webhook, as a receiver does.
package main

import (
	"io"
	"os"

	"github.com/partnerkit/partnerkit/webhooks/signature"
)

// isValid reports whether the raw body was signed with the secret within 300 seconds of now.
func isValid(header string, body []byte, secret string) bool {
	verifier, err := signature.NewVerifier(signature.Config{Secrets: []string{secret}})
	return err == nil && verifier.Verify(header, body) == nil
}

func main() { // verify HEADER < body
	body, err := io.ReadAll(os.Stdin)
	if err != nil || !isValid(os.Args[1], body, os.Getenv("WEBHOOK_SECRET")) {
		os.Exit(1)
	}
}
