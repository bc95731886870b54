package outbound_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
)

// errNoNetwork is what the recording dial responses: the tests never leave loopback.
var errNoNetwork = errors.New("no network in tests")

// A recorder is called after the address check and records the addresses to dial.
type recorder struct {
	mu     sync.Mutex
	dialed []string
}

func (r *recorder) dial(_ context.Context, _, address string) (net.Conn, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dialed = append(r.dialed, address)
	return nil, errNoNetwork
}

func (r *recorder) addresses() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.dialed...)
}

// A script responds to the nth lookup with its nth list; the last one repeats.
type script struct {
	mu        sync.Mutex
	responses [][]netip.Addr
	asked     []string
}

func responding(responses ...[]netip.Addr) *script { return &script{responses: responses} }

func addrs(texts ...string) (list []netip.Addr) {
	for _, text := range texts {
		list = append(list, netip.MustParseAddr(text))
	}
	return list
}

func (s *script) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	turn := min(len(s.asked), len(s.responses)-1)
	s.asked = append(s.asked, host)
	return s.responses[turn], nil
}

// dnsServer responds on loopback, in the DNS protocol, with the zone's addresses;
// names outside the zone do not exist. It is reached through Go's own resolver.
func dnsServer(t *testing.T, zone map[string][]netip.Addr) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() {
		_ = conn.Close()
		<-done
	})
	go func() {
		defer close(done)
		query := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(query)
			if err != nil {
				return
			}
			_, _ = conn.WriteTo(response(query[:n], zone), from)
		}
	}()
	return &net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "udp4", conn.LocalAddr().String())
		},
	}
}

// useResolver makes a resolver the one of clients without Config.Dial, until the test ends.
// The test must not be parallel.
func useResolver(t *testing.T, resolver *net.Resolver) {
	t.Helper()
	before := net.DefaultResolver
	net.DefaultResolver = resolver
	t.Cleanup(func() { net.DefaultResolver = before })
}

// response builds the reply to a query with one question (RFC 1035 4.1).
func response(query []byte, zone map[string][]netip.Addr) []byte {
	const header = 12
	var labels []string
	at := header
	for query[at] != 0 {
		size := int(query[at])
		labels = append(labels, string(query[at+1:at+1+size]))
		at += 1 + size
	}
	kind := binary.BigEndian.Uint16(query[at+1:])
	question := query[header : at+5]

	found, known := zone[strings.ToLower(strings.Join(labels, "."))]
	count, code := byte(0), byte(0)
	if !known {
		code = 3 // no such name
	}
	var records []byte
	for _, addr := range found {
		if kind == 1 && addr.Is4() || kind == 28 && addr.Is6() {
			count++
			records = append(records, 0xc0, header) // the name in the question
			records = binary.BigEndian.AppendUint16(records, kind)
			records = append(records, 0, 1, 0, 0, 0, 0) // class IN, no caching
			records = binary.BigEndian.AppendUint16(records, uint16(len(addr.AsSlice())))
			records = append(records, addr.AsSlice()...)
		}
	}
	reply := append([]byte{query[0], query[1], 0x85, 0x80 | code, 0, 1}, 0, count, 0, 0, 0, 0)
	return append(append(reply, question...), records...)
}
