// Package samples holds the functions that partners copy to verify webhooks.
// docs/webhooks.md and the quick start of the developer console show the same files.
package samples

import _ "embed" // for the files

// Verification of X-Webhook-Signature, each a function and a command.
var (
	//go:embed verify/main.go
	Go string
	//go:embed verify.mjs
	Node string
	//go:embed verify.py
	Python string
	//go:embed verify.php
	PHP string
)
