module github.com/partnerkit/partnerkit/e2e

go 1.26.0

replace github.com/partnerkit/partnerkit => ../

require (
	github.com/partnerkit/partnerkit v0.0.0
	github.com/stripe/stripe-go/v85 v85.0.0
)
