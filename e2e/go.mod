module github.com/partnerkit/partnerkit/e2e

go 1.26.0

replace github.com/partnerkit/partnerkit => ../

require (
	github.com/cli/oauth v1.2.1
	github.com/partnerkit/partnerkit v0.0.0
	github.com/stripe/stripe-go/v85 v85.0.0
)

require (
	github.com/cli/browser v1.0.0 // indirect
	github.com/cli/safeexec v1.0.0 // indirect
)
