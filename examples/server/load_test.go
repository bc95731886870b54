package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// load is the work of clients while the server stops: half of the clients open a connection
// for each request, the other half keep one connection.
type load struct {
	*testing.T
	p         *process
	workers   sync.WaitGroup
	opened    atomic.Int64 // connections
	responded atomic.Int64
	reset     atomic.Int64 // connections without a response

	reading, writing string   // access tokens, of two businesses
	tokens           []string // refresh tokens: the last that each family got
	mu               sync.Mutex
	events, invoices []string // that were acknowledged
}

const ownSandbox = "biz_ledgerlink_sandbox"

// newLoad connects families of tokens.
func newLoad(t *testing.T, p *process) *load {
	t.Helper()
	b := p.session("usr_ada", "biz_bakery")
	l := &load{T: t}
	l.reading = p.connect(b, "biz_bakery", "profile:read")["access_token"].(string)
	l.writing = p.connect(b, ownSandbox, "invoices:read invoices:write")["access_token"].(string)
	for range 4 {
		l.tokens = append(l.tokens, p.connect(b, "biz_bakery", "profile:read events:read invoices:read")["refresh_token"].(string))
	}
	return l
}

// visitor is one of those who use the server.
type visitor struct {
	http.Client
	began time.Time // its last request
}

// visitor makes one whose connections are counted.
func (l *load) visitor(keeps bool) *visitor {
	return &visitor{Client: http.Client{Transport: &http.Transport{
		DisableKeepAlives: !keeps,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			if err == nil {
				l.opened.Add(1)
			}
			return conn, err
		},
	}}}
}

// begin lets loose those who use the tokens, each until the door is closed.
func (l *load) begin(p *process) {
	l.p = p
	for i := range l.tokens {
		for _, act := range []func(*visitor) bool{
			func(v *visitor) bool { return l.refresh(v, &l.tokens[i]) },
			func(v *visitor) bool {
				return l.send(v, sending{method: http.MethodGet, url: p.api + "/profile", token: l.reading}, nil)
			},
			func(v *visitor) bool { return l.send(v, sending{method: http.MethodGet, url: p.app + "/login"}, nil) },
			l.record, l.invoice,
		} {
			l.workers.Go(func() {
				v := l.visitor(i%2 == 0)
				for act(v) {
				}
			})
		}
	}
}

// refresh keeps the token that it gets.
func (l *load) refresh(v *visitor, token *string) bool {
	var got struct {
		Refresh string `json:"refresh_token"`
	}
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {*token}, "client_id": {syncID}, "client_secret": {syncSecret}}
	open := l.send(v, sending{
		method: http.MethodPost, url: l.p.api + "/oauth/token", contentType: "application/x-www-form-urlencoded", body: form.Encode(),
	}, &got)
	if got.Refresh != "" { // else it was limited
		*token = got.Refresh
	}
	return open
}

// record writes an event, which has a webhook.
func (l *load) record(v *visitor) bool {
	return l.write(v, &l.events, sending{
		url: l.p.api + "/dev/events", body: `{"businessId": "biz_bakery", "type": "invoice.paid", "data": {}}`,
	})
}

// invoice writes one into the books.
func (l *load) invoice(v *visitor) bool {
	return l.write(v, &l.invoices, sending{
		url: l.p.api + "/invoices", token: l.writing, body: `{"number": "` + rand.Text() + `", "currency": "EUR", "total": 100}`,
	})
}

// write keeps the id that it gets.
func (l *load) write(v *visitor, ids *[]string, s sending) bool {
	var got struct{ ID string }
	s.method, s.contentType = http.MethodPost, "application/json"
	open := l.send(v, s, &got)
	if got.ID != "" {
		l.mu.Lock()
		defer l.mu.Unlock()
		*ids = append(*ids, got.ID)
	}
	return open
}

// sending is a request that can be sent.
type sending struct{ method, url, contentType, body, token string }

// send makes a request. It reports false if the server no longer responds.
func (l *load) send(v *visitor, s sending, into any) bool {
	connected, reused, before := false, false, v.began
	v.began = time.Now()
	ctx := httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) { connected, reused = true, info.Reused },
	})
	r, err := http.NewRequestWithContext(ctx, s.method, s.url, strings.NewReader(s.body))
	if err != nil {
		l.Error(err)
		return false
	}
	r.Header.Set("Content-Type", s.contentType)
	if s.token != "" {
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	res, err := v.Do(r)
	switch {
	case err != nil && reused:
		if time.Since(before) < 50*time.Millisecond { // else it may have been idle, and closed for that
			l.Errorf("a connection that was let in, without an answer: %v", err)
		}
		return false
	case err != nil && connected:
		l.reset.Add(1)
		return false
	case err != nil:
		return false
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		l.Errorf("half an answer: %v", err)
	case res.StatusCode >= 500:
		l.Errorf("%s %s: %d %s", s.method, s.url, res.StatusCode, text)
	case res.StatusCode < 300 && into != nil:
		if err := json.Unmarshal(text, into); err != nil {
			l.Error(err)
		}
	}
	l.responded.Add(1)
	return true
}

var connections = regexp.MustCompile(`requests are done" connections=(\d+)`)

// checkResponses compares the connections that the server took with those that got an
// response. Who is in front of the door at the very moment when it closes is reset by the
// kernel, and was not let in.
func (l *load) checkResponses() {
	l.Helper()
	said := connections.FindStringSubmatch(l.p.stderr.String())
	if said == nil {
		l.Fatalf("the log lacks the number of connections:\n%s", l.p.stderr)
	}
	l.Logf("%s connections, %d answers, %d events, %d invoices, %d reset at the door",
		said[1], l.responded.Load(), len(l.events), len(l.invoices), l.reset.Load())
	if taken, err := strconv.ParseInt(said[1], 10, 64); err != nil || taken != l.opened.Load()-l.reset.Load() {
		l.Errorf("%d connections were taken, %d got an answer", taken, l.opened.Load()-l.reset.Load())
	}
}

// check looks for everything that was answered.
func (l *load) check(again *process) {
	l.Helper()
	access := ""
	for _, token := range l.tokens {
		tokens := again.oauth("token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}}).want(l.T, http.StatusOK).json(l.T)
		access = tokens["access_token"].(string)
	}
	for _, list := range []struct {
		of   string
		path string
		want []string
		by   string
	}{
		{"event", "/events?types=invoice.paid&limit=100&after=", l.events, access},
		{"invoice", "/invoices?limit=100&after=", l.invoices, l.writing},
	} {
		kept := again.all(list.path, list.by)
		for _, id := range list.want {
			if !kept[id] {
				l.Errorf("%s %s was acknowledged and is gone", list.of, id)
			}
		}
	}
}

// all pages through a list and returns its ids.
func (p *process) all(path, token string) map[string]bool {
	p.t.Helper()
	ids := map[string]bool{}
	for after, more := "", true; more; {
		r := request(p.t, http.MethodGet, p.api+strings.TrimSuffix(path+after, "&after="), "", "")
		r.Header.Set("Authorization", "Bearer "+token)
		var page struct {
			Events, Data []struct{ ID string }
			HasMore      bool
			NextCursor   string
		}
		if err := json.Unmarshal([]byte(do(p.t, http.DefaultClient, r).want(p.t, http.StatusOK).body), &page); err != nil {
			p.t.Fatal(err)
		}
		after, more = page.NextCursor, page.HasMore
		for _, e := range page.Events {
			ids[e.ID], after = true, e.ID
		}
		for _, record := range page.Data {
			ids[record.ID] = true
		}
	}
	return ids
}
