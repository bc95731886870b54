package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/examples/server/servertest"
	_ "github.com/partnerkit/partnerkit/examples/server/servertest/parts"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// harness is the program in front of a server of its own, whose clock moves when the
// program waits.
type harness struct {
	*servertest.Server
	stdout bytes.Buffer
	waits  []time.Duration
	secret string
	last   string // Authorization of the last call of the API
}

// RoundTrip sends a request, and notes by which token.
func (g *harness) RoundTrip(r *http.Request) (*http.Response, error) {
	if token := r.Header.Get("Authorization"); strings.HasPrefix(token, "Bearer ") {
		g.last = token
	}
	return http.DefaultTransport.RoundTrip(r)
}

// on is what happens before a poll; it says whether the clock moves.
func (g *harness) run(t *testing.T, on func(poll int) bool, args ...string) error {
	t.Helper()
	return run(t.Context(), append([]string{"-api", g.API}, args...), environment{
		getenv: func(string) string { return g.secret },
		stdout: &g.stdout, stderr: io.Discard, transport: g,
		wait: func(ctx context.Context, d time.Duration) error {
			if g.waits = append(g.waits, d); on(len(g.waits)) {
				g.Dev("clock", fmt.Sprintf(`{"advanceSeconds": %d}`, d/time.Second), nil)
			}
			return ctx.Err()
		},
	})
}

var shownCode = regexp.MustCompile(`enter the code ([A-Z]{4}-[A-Z]{4})\n`)

// decide enters the code that the program shows.
func (g *harness) decide(t *testing.T, decision string) {
	t.Helper()
	shown := shownCode.FindSubmatch(g.stdout.Bytes())
	if shown == nil {
		t.Fatalf("no code:\n%s", &g.stdout)
	}
	g.DecideDevice(string(shown[1]), decision)
}

// DEV-01, DEV-02, DEV-04, REV-06: both kinds of apps get through, and leave nothing
// behind.
func TestApproved(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t, "")
	for clientID, secret := range map[string]string{"ledgerlink-cli": "", "ledgerlink-sync": "demo-secret-ledgerlink-sync"} {
		t.Run(clientID, func(t *testing.T) { // one after the other: they move the clock
			g := &harness{Server: server, secret: secret}
			err := g.run(t, func(poll int) bool {
				if poll == 3 {
					g.decide(t, "allow")
				}
				return true
			}, "-client-id", clientID)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{
				"Open " + g.App + "/device\n", g.App + "/device?user_code=", "for at most 10 minutes",
				"with the scopes profile:read.\n", "You are Ada Moreau of Moreau Bakery.\n", "Gave the tokens back.\n",
			} {
				if !strings.Contains(g.stdout.String(), want) {
					t.Errorf("it does not say %q:\n%s", want, &g.stdout)
				}
			}
			if want := []time.Duration{5 * time.Second, 5 * time.Second, 5 * time.Second}; !slices.Equal(g.waits, want) {
				t.Errorf("it waited %v, want %v", g.waits, want)
			}
			g.wantNoAccess(t)
		})
	}
}

// wantNoAccess makes the call of the program again, after it has ended.
func (g *harness) wantNoAccess(t *testing.T) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, g.API+"/profile", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", g.last)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if g.last == "" || res.StatusCode != http.StatusUnauthorized {
		t.Errorf("the token still works: %s", res.Status)
	}
}

// DEV-04: slow_down makes the program slower for good (RFC 8628 section 3.5).
func TestSlowDown(t *testing.T) {
	t.Parallel()
	g := &harness{Server: servertest.Start(t, "")}
	slower := 0
	err := g.run(t, func(int) bool {
		if g.waits[len(g.waits)-1] == 10*time.Second {
			slower++
		}
		if slower == 3 {
			g.decide(t, "allow")
		}
		return slower > 0 // until then it polls without a pause, as the service sees it
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSorted(g.waits) || slower != 3 {
		t.Errorf("it waited %v", g.waits)
	}
}

// DEV-03, DEV-04: every end has its error, and that its exit code.
func TestEnds(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t, "")
	for name, test := range map[string]struct {
		on    func(t *testing.T, g *harness, poll int)
		still bool // the service's clock
		args  []string
		want  error
		says  string
		code  int
	}{
		"denied": {on: func(t *testing.T, g *harness, poll int) {
			if poll == 2 {
				g.decide(t, "deny")
			}
		}, want: errDenied, code: 3},
		"expired": {on: func(_ *testing.T, g *harness, poll int) {
			if poll == 2 {
				g.Dev("clock", `{"advanceSeconds": 600}`, nil)
			}
		}, want: errExpired, code: 4},
		"expired, and nobody says so": {still: true, want: errExpired, code: 4},
		"uninstalled before it was collected": {on: func(t *testing.T, g *harness, poll int) {
			if poll == 2 {
				g.decide(t, "allow")
				g.Dev("installations/uninstall", `{"clientId": "ledgerlink-cli", "businessId": "biz_bakery"}`, nil)
			}
		}, says: "ask for tokens: invalid_grant (status 400)", code: 1},
		"a scope that it may not have": {args: []string{"-scope", "journal:write"}, says: "ask for a code: invalid_scope (status 400)", code: 1},
		"an unknown app":               {args: []string{"-client-id", "nobody"}, says: "ask for a code: invalid_client (status 401)", code: 1},
		"without its secret":           {args: []string{"-client-id", "ledgerlink-sync"}, says: "ask for a code: invalid_client (status 401)", code: 1},
		"no profile":                   {on: allowAtOnce, args: []string{"-scope", "invoices:read"}, says: "GET /profile: Forbidden (status 403)", code: 1},
	} {
		t.Run(name, func(t *testing.T) { // one after the other: they move the clock
			g := &harness{Server: server}
			err := g.run(t, func(poll int) bool {
				if test.on != nil {
					test.on(t, g, poll)
				}
				return !test.still
			}, test.args...)
			if err == nil || test.want != nil && !errors.Is(err, test.want) || test.says != "" && err.Error() != test.says {
				t.Errorf("%v, want %v%s", err, test.want, test.says)
			}
			if code := codeOf(err); code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			if name == "no profile" {
				g.wantNoAccess(t) // given back all the same
			}
		})
	}
}

func allowAtOnce(t *testing.T, g *harness, poll int) {
	if poll == 1 {
		g.decide(t, "allow")
	}
}
