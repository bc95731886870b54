package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/partnerkit/partnerkit/examples/partner/client"
)

// response is a status with the seconds of Retry-After; 0 is no response at all.
type response struct{ status, after int }

// script responds to one request after the other, and keeps what came and when.
type script struct {
	responses []response
	times     []time.Time
	keys      []string
	bodies    []string
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	s.times = append(s.times, time.Now())
	s.keys = append(s.keys, r.Header.Get("Idempotency-Key"))
	if r.Body != nil {
		text, _ := io.ReadAll(r.Body)
		s.bodies = append(s.bodies, string(text))
	}
	next := s.responses[0]
	s.responses = s.responses[1:]
	if next.status == 0 {
		return nil, errLost
	}
	res := &http.Response{StatusCode: next.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), Request: r}
	if next.after > 0 {
		res.Header.Set("Retry-After", strconv.Itoa(next.after))
	}
	return res, nil
}

// CLI-01: what is repeated, how often, and how long the pauses are: at least what
// Retry-After says, otherwise growing, and never exactly.
func TestRetry(t *testing.T) {
	t.Parallel()
	const get, post, keyed = "GET", "POST", "POST with a key"
	for name, test := range map[string]struct {
		kind      string
		responses []response
		status    int             // 0: an error
		atLeast   []time.Duration // the pauses
	}{
		"fine":                        {kind: get, responses: []response{{200, 0}}, status: 200},
		"refused":                     {kind: get, responses: []response{{403, 0}}, status: 403},
		"limited":                     {kind: get, responses: []response{{429, 7}, {200, 0}}, status: 200, atLeast: []time.Duration{7 * time.Second}},
		"limited twice":               {kind: post, responses: []response{{429, 7}, {429, 60}, {201, 0}}, status: 201, atLeast: []time.Duration{7 * time.Second, time.Minute}},
		"limited for too long":        {kind: get, responses: []response{{429, 3600}}, status: 429},
		"limited, and no word how":    {kind: get, responses: []response{{429, 0}, {200, 0}}, status: 200, atLeast: []time.Duration{time.Second / 2}},
		"a fault":                     {kind: get, responses: []response{{503, 0}, {500, 0}, {200, 0}}, status: 200, atLeast: []time.Duration{time.Second / 2, time.Second}},
		"a fault that tells":          {kind: get, responses: []response{{503, 20}, {200, 0}}, status: 200, atLeast: []time.Duration{20 * time.Second}},
		"a fault that stays":          {kind: get, responses: []response{{500, 0}, {500, 0}, {502, 0}}, status: 502, atLeast: []time.Duration{time.Second / 2, time.Second}},
		"a fault of a write":          {kind: post, responses: []response{{500, 0}}, status: 500},
		"a fault of a keyed write":    {kind: keyed, responses: []response{{500, 0}, {0, 0}, {201, 0}}, status: 201, atLeast: []time.Duration{time.Second / 2, time.Second}},
		"no answer":                   {kind: get, responses: []response{{0, 0}, {0, 0}, {0, 0}}, atLeast: []time.Duration{time.Second / 2, time.Second}},
		"no answer to a write":        {kind: post, responses: []response{{0, 0}}},
		"the same write is under way": {kind: keyed, responses: []response{{409, 1}, {201, 0}}, status: 201, atLeast: []time.Duration{time.Second}},
		"a conflict of another kind":  {kind: keyed, responses: []response{{409, 0}}, status: 409},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				wire := &script{responses: test.responses}
				r := newRequest(t.Context(), t, test.kind)
				res, err := (client.Retry{Base: wire}).RoundTrip(r)
				if status := statusOf(res); status != test.status || (err != nil) != (test.status == 0) {
					t.Errorf("status %d, error %v", status, err)
				}
				if len(wire.responses) > 0 || len(wire.times) != len(test.atLeast)+1 {
					t.Fatalf("%d requests, want %d", len(wire.times), len(test.atLeast)+1)
				}
				for i, least := range test.atLeast {
					if got := wire.times[i+1].Sub(wire.times[i]); got < least || got > least+time.Second<<i {
						t.Errorf("pause %d is %v, want %v and a bit", i+1, got, least)
					}
				}
				for i := range wire.bodies {
					if wire.bodies[i] != "body" || wire.keys[i] != r.Header.Get("Idempotency-Key") {
						t.Errorf("request %d: body %q, key %q", i+1, wire.bodies[i], wire.keys[i])
					}
				}
			})
		})
	}
}

func newRequest(ctx context.Context, t *testing.T, kind string) *http.Request {
	t.Helper()
	method, _, keyed := strings.Cut(kind, " ")
	var body io.Reader
	if method == http.MethodPost {
		body = strings.NewReader("body")
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://api.example/things", body)
	if err != nil {
		t.Fatal(err)
	}
	if keyed {
		r.Header.Set("Idempotency-Key", "key_1")
	}
	return r
}

func statusOf(res *http.Response) int {
	if res == nil {
		return 0
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// Pauses differ, so that clients that failed together come back one by one.
func TestRetryJitter(t *testing.T) {
	t.Parallel()
	for _, first := range []response{{429, 30}, {503, 0}} {
		synctest.Test(t, func(t *testing.T) {
			pauses := map[time.Duration]bool{}
			for range 20 {
				wire := &script{responses: []response{first, {200, 0}}}
				res, err := (client.Retry{Base: wire}).RoundTrip(newRequest(t.Context(), t, http.MethodGet))
				if err != nil || statusOf(res) != http.StatusOK {
					t.Fatal(err)
				}
				pauses[wire.times[1].Sub(wire.times[0])] = true
			}
			if len(pauses) < 15 {
				t.Errorf("%d different pauses of 20", len(pauses))
			}
		})
	}
}

// A caller who gives up does not wait for the end of a pause.
func TestRetryGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		res, err := (client.Retry{Base: &script{responses: []response{{429, 60}}}}).RoundTrip(newRequest(ctx, t, http.MethodGet))
		if statusOf(res) != 0 || !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 5*time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}

// A body that can be read once is sent once.
func TestRetryOfAStream(t *testing.T) {
	t.Parallel()
	r := newRequest(t.Context(), t, "POST with a key")
	r.GetBody = nil
	res, err := (client.Retry{Base: &script{responses: []response{{500, 0}}}}).RoundTrip(r)
	if err != nil || statusOf(res) != http.StatusInternalServerError {
		t.Error(err)
	}
}
