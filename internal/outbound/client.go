package outbound

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"time"
)

const (
	// DefaultTimeout is the time a request has, from DNS to the last byte read.
	DefaultTimeout = 10 * time.Second

	// DefaultMaxBody is how much of a response's body is read, in bytes.
	DefaultMaxBody = 64 << 10

	// MaxHeader is how large a response's headers may be, in bytes. The headers of
	// interim (1xx) responses before it count too.
	MaxHeader = 32 << 10

	defaultMaxIdle        = 1024
	defaultMaxIdlePerHost = 32
	idleTimeout           = 60 * time.Second
)

// Config sets up a [Client]. The zero value is a client for production.
type Config struct {
	// Policy decides where requests may go.
	Policy Policy

	// Timeout covers everything: DNS, connecting, the handshake, writing,
	// headers, and the part of the body that is read. Zero means DefaultTimeout.
	Timeout time.Duration

	// MaxBody bounds the body that is read, in bytes. Zero means DefaultMaxBody.
	MaxBody int64

	// MaxIdle and MaxIdlePerHost bound the connections kept for later requests,
	// for a minute each. Zero means 1024 and 32.
	MaxIdle, MaxIdlePerHost int

	// Dial opens connections in place of a net.Dialer, for networks that can be left
	// through a proxy only. The client resolves the name, checks its addresses and
	// calls Dial with network "tcp" and an address that the policy allows, as
	// IP:port: at most eight addresses one after the other, IPv4 first, each with
	// its share of the timeout. The connection that Dial returns must lead to that
	// address; the client cannot check it. TLS is spoken over it, end to end.
	//
	// Nil means a net.Dialer that resolves the name, races IPv4 and IPv6, and checks
	// each address at the socket, before it connects.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	// Resolver finds the addresses for Dial, in tests. Nil means
	// net.DefaultResolver, which is always used without Dial.
	Resolver Resolver

	// TLS is the base of every handshake, for root certificates of one's own.
	// Nil means the system's roots and TLS 1.2 or newer.
	TLS *tls.Config

	// AnyCertificateOnLoopback accepts any certificate of a server on loopback, for
	// development. It needs Policy.AllowLoopback.
	AnyCertificateOnLoopback bool
}

func (c Config) validate() error {
	switch {
	case c.Timeout < 0:
		return errors.New("outbound: Timeout is negative")
	case c.MaxBody < 0:
		return errors.New("outbound: MaxBody is negative")
	case c.MaxIdle < 0 || c.MaxIdlePerHost < 0:
		return errors.New("outbound: MaxIdle or MaxIdlePerHost is negative")
	case c.Resolver != nil && c.Dial == nil:
		return errors.New("outbound: Resolver needs Dial")
	case c.AnyCertificateOnLoopback && !c.Policy.AllowLoopback:
		return errors.New("outbound: AnyCertificateOnLoopback needs Policy.AllowLoopback")
	case c.TLS != nil && c.TLS.InsecureSkipVerify:
		return errors.New("outbound: TLS.InsecureSkipVerify is refused; see AnyCertificateOnLoopback")
	}
	for _, prefix := range c.Policy.Refuse {
		if !prefix.IsValid() || prefix.Addr().Is4In6() {
			return fmt.Errorf("outbound: Policy.Refuse has %s; want an IPv4 or IPv6 prefix", prefix)
		}
	}
	return nil
}

// Client sends requests to URLs that others chose. It speaks HTTP/1.1 only: its requests
// are small and go to many hosts, so HTTP/2 would gain little, and its framing is a second
// parser that a hostile server could keep busy. Connections are kept and reused. It is
// safe for concurrent use.
type Client struct {
	policy    Policy
	timeout   time.Duration
	maxBody   int64
	transport *http.Transport
}

// New checks the configuration and returns a client. It starts nothing.
func New(config Config) (*Client, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	timeout := cmp.Or(config.Timeout, DefaultTimeout)
	d := &dialer{
		policy:                   config.Policy,
		timeout:                  timeout,
		custom:                   config.Dial,
		resolver:                 config.Resolver,
		tls:                      config.TLS,
		anyCertificateOnLoopback: config.AnyCertificateOnLoopback,
	}
	if d.tls == nil {
		d.tls = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &Client{
		policy:  config.Policy,
		timeout: timeout,
		maxBody: cmp.Or(config.MaxBody, DefaultMaxBody),
		transport: &http.Transport{ // without Proxy: none of the environment
			DialContext:            d.dialPlain,
			DialTLSContext:         d.dialTLS,
			Protocols:              protocols,
			DisableCompression:     true,
			MaxIdleConns:           cmp.Or(config.MaxIdle, defaultMaxIdle),
			MaxIdleConnsPerHost:    cmp.Or(config.MaxIdlePerHost, defaultMaxIdlePerHost),
			IdleConnTimeout:        idleTimeout,
			MaxResponseHeaderBytes: MaxHeader,
		},
	}, nil
}

// Send makes one request and reads its response, within the client's timeout and the
// request's context. Every final status is a response, redirects included, which are not
// followed. Once the last header has arrived, Send returns a response: it records in the
// [Response] that the body is too long, stalls or breaks off, and does not return an error.
//
// A request whose reused connection ends before the first byte of a response is sent
// again on another one, if its body can be read again (http.Request.GetBody). The server
// may have received it twice then.
//
// The URL is checked as in [Policy.ParseURL]. Errors are [*Error].
func (c *Client) Send(req *http.Request) (*Response, error) {
	if _, err := c.policy.ParseURL(req.URL.String()); err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // as RoundTrip does
		}
		return nil, blocked("%w", err)
	}
	ctx, cancel := context.WithTimeout(req.Context(), c.timeout)
	defer cancel()
	// The transport sends a POST again only if it has this header. Without a value
	// the header itself is not sent.
	out := req.WithContext(ctx)
	out.Header = maps.Clone(req.Header)
	if out.Header == nil {
		out.Header = http.Header{}
	}
	if _, ok := out.Header["Idempotency-Key"]; !ok {
		out.Header["Idempotency-Key"] = nil
	}
	// An http.Client would fail for a redirect whose Location it cannot parse.
	res, err := c.transport.RoundTrip(out)
	if err != nil {
		return nil, explain(req.Context(), ctx, err)
	}
	defer func() {
		cancel() // first: what is left of a body is not read
		_ = res.Body.Close()
	}()
	if res.StatusCode < 200 { // the transport has read past 1xx, except 101
		return nil, &Error{Kind: KindResponse, Err: fmt.Errorf("status %d is not final", res.StatusCode)}
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, c.maxBody+1)) // one more byte, to learn whether there are more
	response := &Response{Status: res.StatusCode, Header: res.Header, Body: body}
	switch {
	case int64(len(body)) > c.maxBody:
		response.Body, response.BodyErr = body[:c.maxBody], ErrBodyTooLong
	case err != nil:
		response.BodyErr = explain(req.Context(), ctx, err)
	}
	return response, nil
}

// CloseIdle closes the connections that wait for a later request, and ends dials that no
// request waits for. Requests in progress are not disturbed, and the client can still be
// used.
func (c *Client) CloseIdle() { c.transport.CloseIdleConnections() }

// explain finds the kind of an error. The contexts are asked first: when one of them has
// ended, the error is a consequence.
func explain(caller, ctx context.Context, err error) *Error {
	switch {
	case errors.Is(caller.Err(), context.Canceled):
		return &Error{Kind: KindCanceled, Err: fmt.Errorf("%w (%w)", context.Canceled, err)}
	case ctx.Err() != nil:
		return &Error{Kind: KindTimeout, Err: fmt.Errorf("%w (%w)", context.DeadlineExceeded, err)}
	}
	return classify(KindResponse, err)
}
