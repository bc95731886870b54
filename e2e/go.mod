module github.com/partnerkit/partnerkit/e2e

go 1.26.0

replace github.com/partnerkit/partnerkit => ../

require (
	github.com/chromedp/cdproto v0.157.8
	github.com/chromedp/chromedp v0.21.0
	github.com/cli/oauth v1.2.1
	github.com/partnerkit/partnerkit v0.0.0
	github.com/stripe/stripe-go/v85 v85.0.0
)

require (
	github.com/cli/browser v1.0.0 // indirect
	github.com/cli/safeexec v1.0.0 // indirect
)

require github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
