// Package webhooks tells apps what happened: it turns recorded events into
// deliveries, one for each webhook that may know of it, and sends them until they
// arrive or have failed for good.
package webhooks
