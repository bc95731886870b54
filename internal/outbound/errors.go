package outbound

import (
	"context"
	"errors"
	"net"
)

// Kind tells at which step a request failed. It is for the operator's log and metrics; a
// partner sees [Error.Public], which is the same for several kinds.
type Kind string

// The kinds, in the order of the steps of a request.
const (
	KindBlocked  Kind = "blocked"  // the policy refused the URL or every address of its host
	KindDNS      Kind = "dns"      // the name has no address, or the lookup failed
	KindConnect  Kind = "connect"  // no address accepted a connection
	KindTLS      Kind = "tls"      // the handshake failed: certificate, version, not TLS at all
	KindResponse Kind = "response" // the connection ended, or the response is not valid HTTP, not final, or has too large headers
	KindTimeout  Kind = "timeout"  // the time ran out before the last header
	KindCanceled Kind = "canceled" // the caller's context was cancelled
)

// Error is every error that [Client.Send] and [Policy.Check] return.
type Error struct {
	Kind Kind
	Err  error // the detailed cause; never nil
}

// Error returns the whole cause, addresses included. It is for the operator's log only.
func (e *Error) Error() string { return string(e.Kind) + ": " + e.Err.Error() }

// Unwrap returns the detailed cause, so that errors.Is(err, context.Canceled) works.
func (e *Error) Unwrap() error { return e.Err }

// Public returns the text that the owner of the URL may read. Blocked, unresolvable and refused
// connections have the same text: otherwise the owner could map the network behind the
// client. A failed handshake and a timeout have their own texts, since only an address that
// the policy allows gets that far.
func (e *Error) Public() string {
	switch e.Kind {
	case KindTLS:
		return "TLS handshake failed"
	case KindResponse:
		return "invalid response"
	case KindTimeout:
		return "timed out"
	case KindCanceled:
		return "canceled"
	default:
		return "connection failed"
	}
}

// PublicText is [Error.Public] for any error. The text of an error that is not from this
// package is that of a failed connection. It is empty for nil.
func PublicText(err error) string {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Public()
	}
	return (&Error{Kind: KindConnect, Err: err}).Public()
}

// classify wraps err as an Error of the given kind, unless it is an Error already, a
// timeout or a cancellation.
func classify(kind Kind, err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) {
		return &Error{Kind: KindCanceled, Err: err}
	}
	if t, ok := errors.AsType[net.Error](err); ok && t.Timeout() {
		return &Error{Kind: KindTimeout, Err: err}
	}
	return &Error{Kind: kind, Err: err}
}
