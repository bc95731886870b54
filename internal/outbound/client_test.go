package outbound_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/internal/outbound"
)

// DLV-02: a 3xx is the response, even if its Location is not a URL.
func TestSendFollowsNoRedirect(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, location := range []string{"/elsewhere", "https://[::1", ""} {
			var hits atomic.Int32
			url, config := server(t, func(w http.ResponseWriter, _ *http.Request) {
				hits.Add(1)
				w.Header().Set("Location", location)
				w.WriteHeader(status)
			})
			res := send(t, newClient(t, config), url)
			if res.Status != status || res.IsSuccess() || res.Header.Get("Location") != location {
				t.Errorf("status %d to %q: got %d, success %t", status, location, res.Status, res.IsSuccess())
			}
			if hits.Load() != 1 {
				t.Errorf("status %d to %q: %d requests, want 1", status, location, hits.Load())
			}
		}
	}
}

// DLV-07: a proxy in the environment sees nothing. Loopback is exempt from proxies
// anyway, so the recorded dial to a public address is the evidence.
func TestSendIgnoresProxyFromEnvironment(t *testing.T) {
	var hits atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer proxy.Close()
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	t.Setenv("NO_PROXY", "")
	below := new(recorder)
	client := newClient(t, outbound.Config{Resolver: responding(addrs("93.184.216.34")), Dial: below.dial})
	_, err := client.Send(post(t, "https://proxied.test/"))
	wantKind(t, err, outbound.KindConnect, "proxied.test")
	if diff := cmp.Diff([]string{"93.184.216.34:443"}, below.addresses()); diff != "" {
		t.Errorf("dialled (-want +got):\n%s", diff)
	}
	if hits.Load() != 0 {
		t.Errorf("the proxy saw %d requests", hits.Load())
	}
}

// DLV-07: a compressed body stays compressed, so its limit applies to the bytes on
// the wire.
func TestSendDecodesNoGzip(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if _, err := zip.Write(make([]byte, 10<<20)); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	var accepts atomic.Value
	url, config := server(t, func(w http.ResponseWriter, r *http.Request) {
		accepts.Store(r.Header.Get("Accept-Encoding"))
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(packed.Bytes())
	})
	res := send(t, newClient(t, config), url)
	if !bytes.Equal(res.Body, packed.Bytes()) || res.BodyErr != nil {
		t.Errorf("body of %d bytes, error %v; want the %d bytes that were sent", len(res.Body), res.BodyErr, packed.Len())
	}
	if accepts.Load() != "" {
		t.Errorf("asked for encoding %q", accepts.Load())
	}
}

// DLV-01, DLV-07: the body does not affect the status. CIMD-02: the caller learns that the
// body was truncated.
func TestSendBoundsTheBody(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		size, max, want int
		err             error
	}{
		"empty":               {0, 0, 0, nil},
		"at the default":      {64 << 10, 0, 64 << 10, nil},
		"over the default":    {64<<10 + 1, 0, 64 << 10, outbound.ErrBodyTooLong},
		"at an own limit":     {5 << 10, 5 << 10, 5 << 10, nil},
		"over an own limit":   {5<<10 + 1, 5 << 10, 5 << 10, outbound.ErrBodyTooLong},
		"far over the limits": {8 << 20, 5 << 10, 5 << 10, outbound.ErrBodyTooLong},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, config := server(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusAccepted)
				_, _ = w.Write(make([]byte, row.size))
			})
			config.MaxBody = int64(row.max)
			res := send(t, newClient(t, config), url)
			if res.Status != http.StatusAccepted || !res.IsSuccess() || len(res.Body) != row.want {
				t.Errorf("status %d with %d bytes, want 202 with %d", res.Status, len(res.Body), row.want)
			}
			whole, err := res.Whole()
			if !errors.Is(err, row.err) || (err == nil) != (whole != nil) {
				t.Errorf("Whole() = %d bytes, %v; want error %v", len(whole), err, row.err)
			}
		})
	}
}

// DLV-07: an endless body ends at the limit.
func TestSendLeavesAnEndlessBody(t *testing.T) {
	t.Parallel()
	url, config := server(t, func(w http.ResponseWriter, _ *http.Request) {
		chunk := make([]byte, 4<<10)
		for {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	var read atomic.Int64
	config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		return counter{conn, &read}, err
	}
	res := send(t, newClient(t, config), url)
	if res.Status != http.StatusOK || !errors.Is(res.BodyErr, outbound.ErrBodyTooLong) {
		t.Errorf("status %d, body error %v; want 200, too long", res.Status, res.BodyErr)
	}
	if read.Load() > 2*outbound.DefaultMaxBody { // the handshake and buffers are in it too
		t.Errorf("%d bytes came off the wire for a limit of %d", read.Load(), outbound.DefaultMaxBody)
	}
}

// A counter adds up what is read from a connection.
type counter struct {
	net.Conn
	read *atomic.Int64
}

func (c counter) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.read.Add(int64(n))
	return n, err
}

// DLV-01: the response records that its body broke off, and keeps its status.
func TestSendNotesABrokenBody(t *testing.T) {
	t.Parallel()
	url, config := server(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "part")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	res := send(t, newClient(t, config), url)
	if res.Status != http.StatusOK || string(res.Body) != "part" {
		t.Errorf("status %d, body %q", res.Status, res.Body)
	}
	wantKind(t, res.BodyErr, outbound.KindResponse, "broken body")
}

func TestSendRefusesHugeHeaders(t *testing.T) {
	t.Parallel()
	url, config := server(t, func(w http.ResponseWriter, _ *http.Request) {
		for i := range 64 {
			w.Header().Set(fmt.Sprintf("X-Fill-%d", i), strings.Repeat("a", 1<<10))
		}
	})
	_, err := newClient(t, config).Send(post(t, url))
	wantKind(t, err, outbound.KindResponse, "huge headers")
}

func TestSendReusesConnections(t *testing.T) {
	t.Parallel()
	var peers atomic.Value
	url, config := server(t, func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 1 {
			w.WriteHeader(http.StatusHTTPVersionNotSupported)
		}
		if first := peers.Load(); first != nil && first != r.RemoteAddr {
			w.WriteHeader(http.StatusConflict)
		}
		peers.Store(r.RemoteAddr)
		_, _ = io.WriteString(w, "read to its end")
	})
	client := newClient(t, config)
	for range 5 {
		if res := send(t, client, url); res.Status != http.StatusOK {
			t.Errorf("status %d: another protocol or another connection", res.Status)
		}
	}
}

func TestSendChecksCertificates(t *testing.T) {
	t.Parallel()
	url, config := server(t, func(http.ResponseWriter, *http.Request) {})
	config.TLS = nil // the system's roots do not know the server
	_, err := newClient(t, config).Send(post(t, url))
	wantKind(t, err, outbound.KindTLS, "unknown root")

	config.AnyCertificateOnLoopback = true // CIMD-03
	if res := send(t, newClient(t, config), url); res.Status != http.StatusOK {
		t.Errorf("status %d under AnyCertificateOnLoopback", res.Status)
	}
}

func TestSendOverHTTPOnLoopback(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(plain.Close)
	client := newClient(t, outbound.Config{Policy: outbound.Policy{AllowLoopback: true}})
	if res := send(t, client, plain.URL); res.Status != http.StatusOK {
		t.Errorf("status %d", res.Status)
	}
	_, err := newClient(t, outbound.Config{}).Send(post(t, plain.URL))
	wantKind(t, err, outbound.KindBlocked, "strict policy")
}

func TestSendSaysThatTheCallerGaveUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	url, config := server(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	_, err := newClient(t, config).Send(request(t, ctx, url))
	wantKind(t, err, outbound.KindCanceled, "cancelled")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v does not wrap context.Canceled", err)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]outbound.Config{
		"negative timeout":           {Timeout: -1},
		"negative body":              {MaxBody: -1},
		"negative idle":              {MaxIdle: -1},
		"negative idle per host":     {MaxIdlePerHost: -1},
		"any certificate everywhere": {TLS: &tls.Config{InsecureSkipVerify: true}},
		"any certificate, strict":    {AnyCertificateOnLoopback: true},
		"resolver without dial":      {Resolver: net.DefaultResolver},
		"invalid prefix":             {Policy: outbound.Policy{Refuse: []netip.Prefix{{}}}},
		"mapped prefix": {Policy: outbound.Policy{Refuse: []netip.Prefix{
			netip.PrefixFrom(netip.MustParseAddr("::ffff:8.8.8.0"), 120),
		}}},
	} {
		if _, err := outbound.New(config); err == nil {
			t.Errorf("%s: New took it", name)
		}
	}
}

// server runs a handler behind TLS on loopback and gives a configuration that may
// reach it.
func server(t *testing.T, handler http.HandlerFunc) (url string, config outbound.Config) {
	t.Helper()
	s := httptest.NewUnstartedServer(handler)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL, outbound.Config{
		Policy: outbound.Policy{AllowLoopback: true},
		TLS:    &tls.Config{RootCAs: roots(s)},
	}
}

func roots(s *httptest.Server) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return pool
}

func send(t *testing.T, client *outbound.Client, url string) *outbound.Response {
	t.Helper()
	res, err := client.Send(post(t, url))
	if err != nil {
		t.Fatalf("Send(%s): %v", url, err)
	}
	return res
}

// DLV-07: a server that takes the connection over cannot hold the sender.
func TestSendRefusesToSwitchProtocols(t *testing.T) {
	t.Parallel()
	url, config := server(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "Upgrade")
		w.Header().Set("Upgrade", "x")
		w.WriteHeader(http.StatusSwitchingProtocols)
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_ = conn.Close()
	})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	var failed *outbound.Error
	if res, err := newClient(t, config).Send(req); !errors.As(err, &failed) || failed.Kind != outbound.KindResponse {
		t.Errorf("answer %+v, error %v", res, err)
	}
}
