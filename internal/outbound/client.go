package outbound

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

const (
	// DefaultTimeout is the time a request has, from DNS to the last byte read.
	DefaultTimeout = 10 * time.Second

	// DefaultMaxBody is how much of an answer's body is read, in bytes.
	DefaultMaxBody = 64 << 10

	// MaxHeader is how large an answer's headers may be, in bytes; 1xx answers
	// before it count too.
	MaxHeader = 32 << 10

	defaultMaxIdle        = 1024
	defaultMaxIdlePerHost = 32
	idleTimeout           = 60 * time.Second
)

// Config sets up a [Client]. The zero value is a client for production.
type Config struct {
	// Policy says where requests may go.
	Policy Policy

	// Timeout covers everything: DNS, connecting, the handshake, writing,
	// headers, and the part of the body that is read. Zero means DefaultTimeout.
	Timeout time.Duration

	// MaxBody bounds the body that is read, in bytes. Zero means DefaultMaxBody.
	MaxBody int64

	// MaxIdle and MaxIdlePerHost bound the connections kept for later requests,
	// for a minute each. Zero means 1024 and 32.
	MaxIdle, MaxIdlePerHost int

	// Resolver finds addresses. Nil means net.DefaultResolver.
	Resolver Resolver

	// Dial replaces the network below the guard: it gets addresses that the
	// policy has allowed, as IP and port, and is for tests over net.Pipe. Nil
	// means a net.Dialer that judges the address once more at the socket.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	// TLS is the base of every handshake, for root certificates of one's own.
	// Nil means the system's roots and TLS 1.2 or newer.
	TLS *tls.Config

	// AnyCertificateOnLoopback accepts whatever certificate a server on loopback
	// shows, for development. It needs Policy.AllowLoopback.
	AnyCertificateOnLoopback bool
}

// Client sends requests to URLs that others chose. It speaks HTTP/1.1 only: what
// it sends is small and goes to many hosts, so HTTP/2 would gain little, and its
// framing is a second parser that a hostile server could keep busy. Connections
// are kept and used again. It is safe for concurrent use.
type Client struct {
	policy  Policy
	timeout time.Duration
	maxBody int64
	dialer  *dialer
	idle    pool
}

// New checks the configuration and makes a client. It starts nothing.
func New(config Config) (*Client, error) {
	switch {
	case config.Timeout < 0:
		return nil, errors.New("outbound: Timeout is negative")
	case config.MaxBody < 0:
		return nil, errors.New("outbound: MaxBody is negative")
	case config.MaxIdle < 0 || config.MaxIdlePerHost < 0:
		return nil, errors.New("outbound: MaxIdle or MaxIdlePerHost is negative")
	case config.AnyCertificateOnLoopback && !config.Policy.AllowLoopback:
		return nil, errors.New("outbound: AnyCertificateOnLoopback needs Policy.AllowLoopback")
	case config.TLS != nil && config.TLS.InsecureSkipVerify:
		return nil, errors.New("outbound: TLS.InsecureSkipVerify is refused; see AnyCertificateOnLoopback")
	}
	for _, prefix := range config.Policy.Refuse {
		if !prefix.IsValid() || prefix.Addr().Is4In6() {
			return nil, fmt.Errorf("outbound: Policy.Refuse has %s; want an IPv4 or IPv6 prefix", prefix)
		}
	}
	d := &dialer{
		policy:                   config.Policy,
		resolver:                 config.Resolver,
		connect:                  config.Dial,
		tls:                      config.TLS,
		anyCertificateOnLoopback: config.AnyCertificateOnLoopback,
	}
	if d.resolver == nil {
		d.resolver = net.DefaultResolver
	}
	if d.connect == nil {
		d.connect = netConnect(config.Policy)
	}
	if d.tls == nil {
		d.tls = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return &Client{
		policy:  config.Policy,
		timeout: cmp.Or(config.Timeout, DefaultTimeout),
		maxBody: cmp.Or(config.MaxBody, DefaultMaxBody),
		dialer:  d,
		idle:    pool{max: cmp.Or(config.MaxIdle, defaultMaxIdle), maxPerHost: cmp.Or(config.MaxIdlePerHost, defaultMaxIdlePerHost)},
	}, nil
}

// Send makes one request and reads its answer, within the client's timeout and
// the request's context. Every status is an answer, redirects included, which are
// not followed. Once the last header is in, the answer stands: a body that is too
// long, stalls or breaks off is noted in the [Response] and is no error here.
//
// The URL is checked as in [Policy.ParseURL]. Errors are [*Error].
func (c *Client) Send(req *http.Request) (*Response, error) {
	if _, err := c.policy.ParseURL(req.URL.String()); err != nil {
		closeBody(req)
		return nil, blocked("%w", err)
	}
	ctx, deadline := req.Context(), time.Now().Add(c.timeout)
	if sooner, ok := ctx.Deadline(); ok && sooner.Before(deadline) {
		deadline = sooner
	}
	l, res, err := c.open(ctx, req, deadline) //nolint:bodyclose // it would read what is left; the connection is closed instead
	if err != nil {
		return nil, c.explain(ctx, deadline, err)
	}
	answer, err := c.read(ctx, deadline, res)
	if l.end() && err == nil && answer.BodyErr == nil && !res.Close && !req.Close && l.isFree() {
		c.idle.put(l)
	} else {
		l.close()
	}
	return answer, err
}

// open sends the request, over a connection that is idle if there is one, and reads
// the headers of its answer. A connection that was closed before it took a byte is no
// reason to fail.
func (c *Client) open(ctx context.Context, req *http.Request, deadline time.Time) (*link, *http.Response, error) {
	l := c.idle.get(linkKey(req.URL))
	for {
		if l == nil {
			var err error
			if l, err = c.dial(ctx, req.URL, deadline); err != nil {
				closeBody(req)
				return nil, nil, err
			}
		}
		var res *http.Response
		err := l.begin(ctx, deadline)
		if err == nil {
			res, err = l.exchange(req)
		}
		if err == nil {
			return l, res, nil
		}
		l.end()
		l.close()
		again := l.isReused && l.sent == 0 && ctx.Err() == nil && time.Now().Before(deadline)
		if !again || hasBody(req) && req.GetBody == nil {
			return nil, nil, err
		}
		if hasBody(req) {
			if req.Body, err = req.GetBody(); err != nil {
				return nil, nil, err
			}
		}
		l = nil
	}
}

func (c *Client) dial(ctx context.Context, u *url.URL, deadline time.Time) (*link, error) {
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	dial, port := c.dialer.dialTLS, "443"
	if u.Scheme == "http" {
		dial, port = c.dialer.dialPlain, "80"
	}
	conn, err := dial(ctx, "tcp", net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), port)))
	if err != nil {
		return nil, err
	}
	return newLink(conn, linkKey(u)), nil
}

// linkKey is what the requests that may share a connection have in common.
func linkKey(u *url.URL) string { return u.Scheme + "://" + u.Host }

func hasBody(req *http.Request) bool { return req.Body != nil && req.Body != http.NoBody }

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close() // as a round trip would have done
	}
}

// CloseIdle closes the connections that wait for a later request. Requests under
// way are not disturbed, and the client can still be used.
func (c *Client) CloseIdle() { c.idle.closeAll() }

// explain finds the kind of a failure. The context and the time are asked first: when
// one of them ended, whatever else broke did so because of it.
func (c *Client) explain(ctx context.Context, deadline time.Time, err error) *Error {
	switch {
	case ctx.Err() == context.Canceled:
		return &Error{Kind: KindCanceled, Err: fmt.Errorf("%w (%w)", context.Canceled, err)}
	case ctx.Err() != nil || !time.Now().Before(deadline):
		return &Error{Kind: KindTimeout, Err: fmt.Errorf("%w (%w)", context.DeadlineExceeded, err)}
	}
	return classify(KindResponse, err)
}

// read takes at most maxBody bytes and one more, to learn whether there are more.
func (c *Client) read(ctx context.Context, deadline time.Time, res *http.Response) (*Response, error) {
	answer := &Response{Status: res.StatusCode, Header: res.Header}
	switch res.StatusCode {
	case http.StatusSwitchingProtocols:
		return nil, &Error{Kind: KindResponse, Err: errors.New("the server switched protocols")}
	case http.StatusNoContent:
		return answer, nil
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, c.maxBody+1))
	answer.Body = body
	switch {
	case int64(len(body)) > c.maxBody:
		answer.Body = body[:c.maxBody]
		answer.BodyErr = ErrBodyTooLong
	case err != nil:
		answer.BodyErr = c.explain(ctx, deadline, err)
	}
	return answer, nil
}
