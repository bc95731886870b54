package outbound

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"
)

// maxAddresses bounds how many addresses of one name are tried: a name with
// hundreds of them must not turn one delivery into a scan.
const maxAddresses = 8

// Resolver finds the addresses of a host. [*net.Resolver] is one. Names arrive
// with a trailing dot, so that no search domain of this machine is tried.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// A dialer opens connections for the transport: resolve, judge, connect.
type dialer struct {
	policy   Policy
	resolver Resolver
	connect  func(ctx context.Context, network, address string) (net.Conn, error)
	tls      *tls.Config

	anyCertificateOnLoopback bool
}

// dialTLS serves https.
func (d *dialer) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	conn, addr, err := d.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, errors.Join(classify(KindConnect, err), conn.Close())
	}
	config := d.tls.Clone()
	config.ServerName = cmp.Or(config.ServerName, host)
	config.NextProtos = []string{"http/1.1"}
	if d.anyCertificateOnLoopback && addr.IsLoopback() {
		config.InsecureSkipVerify = true
	}
	secured := tls.Client(conn, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = conn.Close() // the handshake's error says more
		return nil, classify(KindTLS, err)
	}
	return secured, nil
}

// dialPlain serves http, which the check of the URL keeps on this machine.
func (d *dialer) dialPlain(ctx context.Context, network, address string) (net.Conn, error) {
	conn, _, err := d.dial(ctx, network, address)
	return conn, err
}

// dial connects to the first address that the policy allows and that accepts.
// Refused addresses of a mixed answer are passed over: what counts is where we
// connect.
func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, netip.Addr, error) {
	none := netip.Addr{}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, none, classify(KindConnect, err)
	}
	found, err := d.resolve(ctx, host)
	if err != nil {
		return nil, none, err
	}
	var allowed []netip.Addr
	var refusals []error
	for _, addr := range found {
		addr = addr.WithZone("").Unmap()
		if err := d.policy.Judge(addr); err != nil {
			refusals = append(refusals, err)
			continue
		}
		allowed = append(allowed, addr)
	}
	if len(allowed) == 0 {
		return nil, none, blocked("%s: %w", host, errors.Join(refusals...))
	}

	allowed = alternate(allowed)
	allowed = allowed[:min(len(allowed), maxAddresses)]
	var failures []error
	for i, addr := range allowed {
		conn, err := d.try(ctx, network, net.JoinHostPort(addr.String(), port), len(allowed)-i)
		if err == nil {
			return conn, addr, nil
		}
		failures = append(failures, err)
	}
	return nil, none, classify(KindConnect, fmt.Errorf("%s: %w", host, errors.Join(failures...)))
}

// resolve finds the addresses of a host; a literal is its own address. The names
// of this machine are answered without asking anybody (RFC 6761 6.3).
func (d *dialer) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	if isLocalhost(host) {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil
	}
	if !strings.HasSuffix(host, ".") {
		host += "."
	}
	found, err := d.resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, classify(KindDNS, err)
	}
	if len(found) == 0 {
		return nil, &Error{Kind: KindDNS, Err: fmt.Errorf("%s has no address", host)}
	}
	return found, nil
}

// try connects to one address within its share of the time: left is the number of
// addresses that are still to be tried, this one included.
func (d *dialer) try(ctx context.Context, network, address string, left int) (net.Conn, error) {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(left))
		defer cancel()
	}
	return d.connect(ctx, network, address)
}

// alternate takes one address of each family in turn, beginning with the family
// of the first (RFC 8305 4): a family without a route does not use up the tries.
func alternate(addrs []netip.Addr) []netip.Addr {
	var first, second []netip.Addr
	for _, addr := range addrs {
		if addr.Is4() == addrs[0].Is4() {
			first = append(first, addr)
		} else {
			second = append(second, addr)
		}
	}
	mixed := make([]netip.Addr, 0, len(addrs))
	for pair := range max(len(first), len(second)) {
		mixed = append(mixed, first[min(pair, len(first)):min(pair+1, len(first))]...)
		mixed = append(mixed, second[min(pair, len(second)):min(pair+1, len(second))]...)
	}
	return mixed
}

// netConnect is the way to the network when no other is configured. Its control
// hook runs on the socket, with the address that connect will use: the last word,
// even if everything above it were wrong.
func netConnect(policy Policy) func(ctx context.Context, network, address string) (net.Conn, error) {
	d := &net.Dialer{
		ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
			target, err := netip.ParseAddrPort(address)
			if err != nil {
				return blocked("dial %s: %w", address, err)
			}
			return policy.Judge(target.Addr())
		},
	}
	return d.DialContext
}
