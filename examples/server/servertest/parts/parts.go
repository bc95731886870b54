// Package parts imports what the reference server imports. Tests that build the server import
// it, so that go test compiles the parts before a test builds them, and not each test once
// more.
package parts

import (
	_ "github.com/partnerkit/partnerkit"
	_ "github.com/partnerkit/partnerkit/console/jscheck"
	_ "github.com/partnerkit/partnerkit/events/schemacheck"
	_ "github.com/partnerkit/partnerkit/oauthserver/pages"
	_ "github.com/partnerkit/partnerkit/ratelimit/redislimit"
	_ "github.com/partnerkit/partnerkit/storage/postgres"
	_ "github.com/partnerkit/partnerkit/storage/sqlite"
	_ "github.com/prometheus/client_golang/prometheus/promhttp"
	_ "go.opentelemetry.io/otel/exporters/prometheus"
)
