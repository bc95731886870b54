// Package signature signs webhooks and verifies them. It is all that a receiver
// needs, and imports the standard library only.
//
// # The header
//
// Every delivery carries
//
//	X-Webhook-Signature: t=<unix seconds>,v1=<hex>[,v1=<hex>]
//
// where v1 is the HMAC-SHA256 of "<t>.<raw body>", keyed with the webhook's secret as it
// was shown, whsec_ included. For one day after a rotation the header has two v1 values,
// one for the new secret and one for the old; a receiver with either secret accepts.
//
// # Receiving
//
// [Verifier.Handler] lets a request through when its body is what the owner of the
// secret signed, within 300 seconds of now. The receiver then reads a [Delivery]
// from the body, keeps it, responds with 2xx at once and works afterwards. A delivery
// comes at least once: skip what was seen before, by its EventID.
//
// Only the body is signed. What other headers say about it, such as X-Webhook-Id,
// is a convenience for logs and routers: decide by the body.
//
// # Rotating a secret
//
// Rotate it at the sender, give the [Verifier] both secrets, and drop the old one any time
// later. No delivery is lost within that day, in any order of these steps.
package signature
