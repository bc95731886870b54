package outbound

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// maxAddresses bounds how many addresses of one name are tried, by family without
// Config.Dial: a name with hundreds of them must not turn one delivery into a scan.
const maxAddresses = 8

// Resolver finds the addresses of a host. [*net.Resolver] is one. Names arrive
// with a trailing dot.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// dialer opens the connections of the transport, to addresses that the policy allows.
type dialer struct {
	policy   Policy
	timeout  time.Duration
	custom   func(ctx context.Context, network, address string) (net.Conn, error) // Config.Dial
	resolver Resolver                                                             // for custom; nil: net.DefaultResolver
	tls      *tls.Config

	anyCertificateOnLoopback bool
}

// dialTLS serves https.
func (d *dialer) dialTLS(ctx context.Context, network, address string) (secured net.Conn, err error) {
	defer recovered(&err)
	ctx, cancel := context.WithTimeout(ctx, d.timeout) // the transport's has no deadline
	defer cancel()
	conn, addr, err := d.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	config := d.tls.Clone()
	if config.ServerName == "" {
		config.ServerName, _, _ = net.SplitHostPort(address) // dial has split it
	}
	config.NextProtos = []string{"http/1.1"}
	if d.anyCertificateOnLoopback && addr.IsLoopback() {
		config.InsecureSkipVerify = true
	}
	client := tls.Client(conn, config)
	if err := client.HandshakeContext(ctx); err != nil {
		_ = conn.Close() // the handshake's error says more
		return nil, classify(KindTLS, err)
	}
	return tlsConn{client}, nil
}

// recovered turns a panic into an error: of Config.Dial or of a function of Config.TLS.
// http.Transport dials on a goroutine of its own, where nothing else recovers it. Call it with
// defer.
func recovered(err *error) {
	if value := recover(); value != nil {
		*err = classify(KindConnect, fmt.Errorf("dial panicked with a value of type %T: %s", value, debug.Stack()))
	}
}

// tlsConn closes at once. A tls.Conn first sends an alert and waits up to 5 seconds for a
// server that does not read, while the transport holds the lock of its idle connections.
type tlsConn struct{ *tls.Conn }

func (c tlsConn) Close() error { return c.NetConn().Close() }

// dialPlain serves http, which [Policy.ParseURL] allows on loopback only.
func (d *dialer) dialPlain(ctx context.Context, network, address string) (conn net.Conn, err error) {
	defer recovered(&err)
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	conn, _, err = d.dial(ctx, network, address)
	return conn, err
}

// dial connects to a host and returns the address that it chose. Addresses that the policy
// refuses are passed over if the host has others.
func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, netip.Addr, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, netip.Addr{}, classify(KindConnect, err)
	}
	if d.custom == nil && !isLocalhost(host) {
		return d.race(ctx, network, host, port)
	}
	addrs, err := d.resolve(ctx, host)
	if err != nil {
		return nil, netip.Addr{}, err
	}
	connect := d.custom
	if connect == nil {
		connect = d.guarded().DialContext
	}
	var failures []error
	for i, addr := range addrs {
		deadline, _ := ctx.Deadline() // dialTLS and dialPlain have set it
		one, cancel := context.WithTimeout(ctx, time.Until(deadline)/time.Duration(len(addrs)-i))
		conn, err := connect(one, network, net.JoinHostPort(addr.String(), port))
		cancel()
		if err == nil && conn == nil {
			err = errors.New("dial returned no connection and no error")
		}
		if err == nil {
			return conn, addr, nil
		}
		failures = append(failures, err)
	}
	return nil, netip.Addr{}, classify(KindConnect, fmt.Errorf("%s: %w", host, errors.Join(failures...)))
}

// race lets net.Dialer resolve the host and race its addresses.
func (d *dialer) race(ctx context.Context, network, host, port string) (net.Conn, netip.Addr, error) {
	conn, err := d.guarded().DialContext(ctx, network, net.JoinHostPort(absolute(host), port))
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return nil, netip.Addr{}, classify(KindDNS, err)
	}
	if err != nil {
		return nil, netip.Addr{}, classify(KindConnect, err)
	}
	remote, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return nil, netip.Addr{}, classify(KindConnect, errors.Join(err, conn.Close()))
	}
	return conn, remote.Addr(), nil
}

// guarded returns a net.Dialer for one host. It checks each address at the socket, before
// it connects.
func (d *dialer) guarded() *net.Dialer {
	var tried4, tried6 atomic.Int32
	return &net.Dialer{
		ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
			target, err := netip.ParseAddrPort(address)
			if err != nil {
				return blocked("dial %s: %w", address, err)
			}
			if err := d.policy.Check(target.Addr()); err != nil {
				return err
			}
			tried := &tried6
			if target.Addr().Is4() {
				tried = &tried4
			}
			if tried.Add(1) > maxAddresses {
				return fmt.Errorf("%d addresses have been tried", maxAddresses)
			}
			return nil
		},
	}
}

// resolve returns the addresses of a host that the policy allows, IPv4 first.
func (d *dialer) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	found, err := d.lookup(ctx, host)
	if err != nil {
		return nil, classify(KindDNS, err)
	}
	if len(found) == 0 {
		return nil, &Error{Kind: KindDNS, Err: fmt.Errorf("%s has no address", host)}
	}
	var allowed []netip.Addr
	var refusals []error
	for _, addr := range found {
		if err := d.policy.Check(addr); err != nil {
			refusals = append(refusals, err)
			continue
		}
		allowed = append(allowed, addr.WithZone("").Unmap())
	}
	if len(allowed) == 0 {
		return nil, blocked("%s: %w", host, errors.Join(refusals...))
	}
	slices.SortStableFunc(allowed, func(a, b netip.Addr) int { return cmp.Compare(a.BitLen(), b.BitLen()) })
	return allowed[:min(len(allowed), maxAddresses)], nil
}

// lookup finds the addresses of a host. An IP address is its own. The names of this
// machine are not looked up in DNS (RFC 6761 6.3).
func (d *dialer) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	if isLocalhost(host) {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil
	}
	if d.resolver == nil {
		return net.DefaultResolver.LookupNetIP(ctx, "ip", absolute(host))
	}
	return d.resolver.LookupNetIP(ctx, "ip", absolute(host))
}

// absolute appends a dot to a name, so that no search domain of this machine is tried.
func absolute(host string) string {
	if _, err := netip.ParseAddr(host); err == nil || strings.HasSuffix(host, ".") {
		return host
	}
	return host + "."
}
