//go:build linux

package hostile_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/examples/server/servertest"
	"github.com/partnerkit/partnerkit/internal/proof"
	"github.com/partnerkit/partnerkit/internal/seed"
	"github.com/partnerkit/partnerkit/internal/testenv"
)

// mostMemory is the most memory that the server may use above its usage after the start:
// for the connections of all idle clients, bodies up to their limits, and memory that Go
// has not returned to the system yet.
const mostMemory = 160 << 20

// The server responds to every request in its documented format and with a client error,
// keeps serving other clients, stays within its memory limit, and releases all resources
// afterwards.
func TestHostile(t *testing.T) {
	testenv.Long(t)
	data := newFixtures(2, 4)
	modes := hostileReceivers(t)
	for name, address := range modes {
		data.Apps[1].Webhooks = append(data.Apps[1].Webhooks, seed.Webhook{ID: "whk_" + strings.ReplaceAll(name, " ", "_"), URL: address, Events: []string{"invoice.created"}, Secret: seed.Optional("whsec_of_" + strings.ReplaceAll(name, " ", "_"))})
	}
	v := startVictim(t, data)
	person, access, err := v.connect(data.Apps[0], "usr_0", "biz_0")
	if err != nil {
		t.Fatal(err)
	}
	developer, other, err := v.connect(data.Apps[1], "usr_1", "biz_1")
	if err != nil {
		t.Fatal(err)
	}
	before := v.usage()
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", v.PID()), []byte("5"), 0); err != nil {
		t.Logf("the peak counts from the start: %v", err)
	}
	t.Run("all", func(t *testing.T) {
		in := *v
		in.TB = t
		t.Run("requests", func(t *testing.T) { t.Parallel(); in.on(t).requests() })
		t.Run("bodies", func(t *testing.T) { t.Parallel(); in.on(t).bodies(person, access.access) })
		t.Run("endless", func(t *testing.T) { t.Parallel(); in.on(t).endless(access.access) })
		t.Run("slow", func(t *testing.T) { t.Parallel(); in.on(t).slow() })
		t.Run("idle", func(t *testing.T) { t.Parallel(); in.on(t).idle() })
		t.Run("receivers", func(t *testing.T) { t.Parallel(); in.on(t).receivers(developer, modes) })
	})
	peak := v.peakMemory()
	person.CloseIdleConnections()
	developer.CloseIdleConnections()
	after := v.settled(before)

	p := proof.Begin(t, "Memory, goroutines and descriptors under hostile clients", "measures")
	p.Tried(3)
	p.Notef("before %v; at most RSS %d MiB; after %v", before, peak>>20, after)
	if peak > before.RSS+mostMemory {
		p.Violation("it took %d MiB, and %d MiB before", peak>>20, before.RSS>>20)
	}
	v.on(t).wantSilentLog(person.session.Cookie, developer.session.Cookie, access.access, access.refresh, other.access, other.refresh)
}

// on returns the victim for a subtest.
func (v *victim) on(t *testing.T) *victim {
	changed := *v
	changed.TB = t
	return &changed
}

// requests sends every odd request to both hosts.
func (v *victim) requests() {
	p := proof.Begin(v, "Odd requests over the wire", "requests")
	var wg sync.WaitGroup
	places := make(chan struct{}, 16) // some are answered when the time for their header is over
	for name, request := range oddRequests() {
		for _, origin := range []string{v.API, v.App} {
			places <- struct{}{}
			wg.Go(func() {
				v.request(p, origin, name, request)
				<-places
			})
		}
	}
	wg.Wait()
	v.isServing(p)
}

// unanswered are the inputs that never become a complete request, or that break off after
// the response.
var pending = []string{"nothing", "bare carriage returns", "many trailers"}

func (v *victim) request(p *proof.Proof, origin, name, request string) {
	responses := v.raw(origin, request)
	p.Tried(1)
	if len(responses) == 0 && !slices.Contains(pending, name) {
		p.Violation("%s to %s: no answer", name, origin)
	}
	for _, a := range responses {
		if problem := a.problem(); problem != "" {
			p.Violation("%s to %s: %s: %v", name, origin, problem, a)
		}
	}
	if name == "length and coding" && len(responses) > 1 {
		p.Violation("%s to %s: the hidden request was answered", name, origin)
	}
}

// isServing checks that both hosts respond.
func (v *victim) isServing(p *proof.Proof) {
	client := servertest.NewClient()
	defer client.CloseIdleConnections()
	for _, address := range []string{v.API + "/readyz", v.App + "/readyz", v.API + "/.well-known/oauth-authorization-server"} {
		if got, err := send(client, http.MethodGet, address, "", ""); err != nil || got.Status != http.StatusOK {
			p.Violation("%s: %v, %v", address, got, err)
		}
	}
}

// bodies sends every odd body to every endpoint that takes one.
func (v *victim) bodies(person *browser, token string) {
	p := proof.Begin(v, "Odd bodies", "requests")
	bearer := []string{"Authorization", "Bearer " + token}
	session := []string{"Cookie", person.session.Cookie}
	type endpoint struct {
		method, address string
		headers         []string
	}
	endpoints := []endpoint{
		{"POST", v.API + "/oauth/token", nil}, {"POST", v.API + "/oauth/revoke", nil}, {"POST", v.API + "/oauth/introspect", nil},
		{"POST", v.API + "/oauth/device/authorize", nil}, {"POST", v.API + "/oauth/register", nil},
		{"POST", v.API + "/invoices", bearer}, {"POST", v.API + "/invoices/bulk-import", bearer}, {"PUT", v.API + "/app-data", bearer},
		{"POST", v.API + "/customers", append([]string{"Idempotency-Key", "the same"}, bearer...)},
		{"POST", v.API + "/developer/apps", session}, {"PATCH", v.API + "/developer/apps/app_0", session}, {"POST", v.API + "/developer/apps/app_0/webhooks", session},
		{"POST", v.API + "/developer/apps/app_0/functions", session}, {"POST", v.API + "/developer/apps/app_0/assets", session}, {"PUT", v.API + "/developer/apps/app_0/listing", session},
		{"POST", v.API + "/dev/events", nil}, {"POST", v.API + "/dev/sessions", nil},
		{"POST", v.App + "/login", nil}, {"POST", v.App + "/device", session}, {"POST", v.App + "/oauth/authorize", session}, {"POST", v.App + "/developer/apps", session}, {"POST", v.App + "/businesses", session},
	}
	client := servertest.NewClient()
	for name, body := range oddBodies() {
		client.CloseIdleConnections()
		client = servertest.NewClient()
		for _, e := range endpoints {
			headers := e.headers
			if body.encoding != "" {
				headers = append([]string{"Content-Encoding", body.encoding}, headers...)
			}
			got, err := send(client, e.method, e.address, body.contentType, body.body, headers...)
			p.Tried(1)
			if err != nil {
				// If a body is rejected unread, the connection may end before the response is read.
				if len(body.body) < 60_000 {
					p.Violation("%s to %s: %v", name, e.address, err)
				}
				continue
			}
			if problem := got.problem(); problem != "" || got.Status < 300 && !isHarmless(e.address) {
				p.Violation("%s to %s %s: %s: %v", name, e.method, e.address, problem, got)
			}
		}
	}
	client.CloseIdleConnections()
	v.isServing(p)
}

// isHarmless reports whether a request may succeed: some pages show their form again.
func isHarmless(address string) bool {
	return strings.HasSuffix(address, "/device") || strings.HasSuffix(address, "/login")
}

// endless sends bodies that do not end, or that are longer or shorter than announced.
func (v *victim) endless(token string) {
	p := proof.Begin(v, "Endless and lying bodies", "connections")
	// What the server may read of a body, of which assets may have 5 MiB, and what the
	// buffers of the two sockets take besides.
	const most, buffered = 8 << 20, 40 << 20
	junk := []byte(strings.Repeat("a=b&", 4096))
	chunk := fmt.Sprintf("%x\r\n%s\r\n", len(junk), junk)
	var wg sync.WaitGroup
	for _, path := range []string{"/oauth/token", "/oauth/register", "/oauth/device/authorize", "/invoices", "/invoices/bulk-import", "/developer/apps", "/nothing", "/login", "/oauth/authorize"} {
		for _, contentType := range []string{formType, "application/json", "multipart/form-data; boundary=x"} {
			head := "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token + "\r\nContent-Type: " + contentType + "\r\n"
			for framing, piece := range map[string]string{"Transfer-Encoding: chunked": chunk, "Content-Length: 1000000000": string(junk)} {
				for _, origin := range []string{v.API, v.App} {
					wg.Go(func() {
						conn := v.dial(origin)
						defer conn.Close()
						_ = conn.SetDeadline(time.Now().Add(50 * time.Second))
						_, _ = io.WriteString(conn, head+framing+"\r\n\r\n")
						sent := 0
						for sent < 2*buffered {
							n, err := io.WriteString(conn, piece)
							sent += n
							if err != nil {
								break // it had enough
							}
						}
						p.Tried(1)
						if sent > most+buffered {
							p.Violation("%s %s %s: %d MiB were taken", path, contentType, framing, sent>>20)
						}
					})
				}
			}
		}
	}
	for range 50 { // a client that announces more than it sends, and disconnects
		wg.Go(func() {
			conn := v.dial(v.API)
			defer conn.Close()
			_, _ = io.WriteString(conn, "POST /oauth/token HTTP/1.1\r\nHost: localhost\r\nContent-Type: "+formType+"\r\nContent-Length: 1000\r\n\r\na=b")
			p.Tried(1)
		})
	}
	wg.Wait()
	v.isServing(p)
}

// slow opens connections that send or read next to nothing. The server ends them: after
// 5 s in the header, 30 s in the body, 60 s in the response; the last two take too long
// for CI, where these clients leave by themselves.
func (v *victim) slow() {
	p := proof.Begin(v, "Slow clients", "connections")
	const each = 100
	waitFor := 20 * time.Second
	if testenv.Proving() {
		waitFor = 3 * time.Minute
	}
	var wg sync.WaitGroup
	open := func(name, origin, head string, drip func(net.Conn) error, isEnded bool) {
		for range each {
			wg.Go(func() {
				conn := v.dial(origin)
				defer conn.Close()
				_, _ = io.WriteString(conn, head)
				began := time.Now()
				for time.Since(began) < waitFor {
					if !isEnded && !testenv.Proving() && time.Since(began) > 3*time.Second {
						p.Tried(1)
						return
					}
					if err := drip(conn); err != nil {
						p.Tried(1)
						return
					}
					time.Sleep(500 * time.Millisecond)
				}
				p.Violation("%s: it is still served after %v", name, waitFor)
			})
		}
	}
	write := func(conn net.Conn) error { _, err := io.WriteString(conn, "x"); return err }
	open("slow header", v.API, "GET / HTTP/1.1\r\nHost: localhost\r\nX: ", write, true)
	open("slow header", v.App, "GET / HTTP/1.1\r\nHost: localhost\r\nX: ", write, true)
	open("slow body", v.API, "POST /oauth/token HTTP/1.1\r\nHost: localhost\r\nContent-Type: "+formType+"\r\nContent-Length: 1000\r\n\r\n", write, false)
	// Each asks for 300 KiB, a hundred times, and reads a byte now and then.
	open("slow reader", v.API, strings.Repeat("GET /openapi.yaml HTTP/1.1\r\nHost: localhost\r\n\r\n", 100), func(conn net.Conn) error {
		_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			return err
		}
		return write(conn) // what arrived can still be read after the server has closed; writing fails
	}, false)
	time.Sleep(time.Second)
	v.isServing(p)
	wg.Wait()
}

// idle holds connections that never send a byte, and others that got one response.
func (v *victim) idle() {
	const connections = 2000
	p := proof.Begin(v, "Idle connections while others are served", "connections")
	conns := make([]net.Conn, 0, connections)
	defer func() {
		for _, conn := range conns {
			conn.Close()
		}
	}()
	for i := range connections {
		conn := v.dial([]string{v.API, v.App}[i%2])
		conns = append(conns, conn)
		if i%10 == 0 {
			_, _ = io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
		}
		p.Tried(1)
	}
	held := v.usage()
	for range testenv.Rounds(10, 100) {
		v.isServing(p)
	}
	p.Notef("held at once: %v", held)
}

// aSecret matches issued tokens, codes and secrets.
var aSecret = regexp.MustCompile(`(pk_[a-z]+_|whsec_)[A-Za-z0-9_-]{43}`)

// wantSilentLog checks that no token, code or cookie is in the log (TOK-09).
func (v *victim) wantSilentLog(secrets ...string) {
	p := proof.Begin(v, "Secrets in the server's log", "secrets")
	log := v.log()
	if found := aSecret.FindString(log); found != "" {
		p.Violation("the log has %s…", found[:12])
	}
	for _, secret := range secrets {
		_, secret, _ = strings.Cut("="+secret, "=")
		if len(secret) < 20 {
			v.Fatalf("%q is no secret", secret)
		}
		p.Tried(1)
		if strings.Contains(log, secret) {
			p.Violation("the log has %s…", secret[:12])
		}
	}
	for line := range strings.Lines(log) {
		if strings.Contains(line, "level=ERROR") {
			p.Violation("the log has a fault: %s", line)
		}
	}
}
