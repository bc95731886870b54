package client

import (
	"net/http"
	"time"
)

// NewTransport returns the network, with an end to waiting: a service that does not
// begin to respond within half a minute did not respond, and [Retry] goes on.
func NewTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = 30 * time.Second
	return t
}
