//go:build linux

package hostile_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/examples/server/servertest"
	"github.com/partnerkit/partnerkit/internal/proof"
	"github.com/partnerkit/partnerkit/internal/seed"
	"github.com/partnerkit/partnerkit/internal/testenv"
)

const (
	// atOnce is how many of the largest bodies of an endpoint are sent at once.
	atOnce = 32
	// mostLive is how much of the heap may be live above idle, in MB: the bodies, which are 134
	// MB for the endpoint that takes the largest, what is decoded of them, which is no more,
	// and some more that is allocated while the collector marks. Where two goroutines decode at
	// a time it is about 150; where many are under way, because the processor is slow, up to 270.
	mostLive = 300
)

// ERR-04: while 32 of the largest bodies of an endpoint are refused at once, the live heap
// of the server stays below 300 MB above what is live when it is idle. Live is what the
// garbage collector of the server marks (GODEBUG=gctrace=1). With GOGC=10 a cycle begins
// whenever the heap is a tenth larger than what the last cycle marked. The heap, garbage
// included, is noted too: at no moment can more have been live.
func TestMemoryOfRefusedBodies_ERR04(t *testing.T) {
	testenv.Long(t)
	data := newFixtures(1, 9)
	v := startVictim(t, data, "GOGC=10", "GODEBUG=gctrace=1")
	p := proof.Begin(t, "Live heap while the 32 largest bodies of an endpoint are refused", "bodies")
	var worst usageAbove
	for _, e := range v.targets(data) {
		for _, shape := range e.shapes() {
			above := v.refuseAndMeasure(t, p, e, shape)
			if above.live > mostLive {
				p.Violation("%v, %s: %v", e, shape.name, above)
			}
			if above.live > worst.live {
				above.of = fmt.Sprintf("%v, %s", e, shape.name)
				worst = above
			}
		}
	}
	p.Notef("at most %v: %s", worst, worst.of)
	v.isServing(p)
}

// refuseAndMeasure returns how much more was live while the bodies were refused than before.
func (v *victim) refuseAndMeasure(t *testing.T, p *proof.Proof, e target, s shape) usageAbove {
	t.Helper()
	v.collected()
	idle := v.lastCycle()
	from := len(v.log())
	statuses := v.refuse(p, e, s)
	above := v.peak(from, idle).above(idle)
	t.Logf("%-70s %-24s %v; %v", e, s.name, above, statuses)
	return above
}

// usageAbove is how much larger the heap was than in an idle server, in MB.
type usageAbove struct {
	live, heap int
	of         string
}

func (u usageAbove) String() string {
	return fmt.Sprintf("%d MB live, heap of %d MB above idle", u.live, u.heap)
}

// cycle is a cycle of the garbage collector, in bytes.
type cycle struct{ heap, live int }

func (c cycle) above(idle cycle) usageAbove {
	return usageAbove{live: (c.live - idle.live) / 1_000_000, heap: (c.heap - idle.live) / 1_000_000}
}

// aCycle matches the heap at the start and at the end of a cycle, and the marked heap, in
// MiB.
var aCycle = regexp.MustCompile(`(?m)^gc \d+ @.* (\d+)->(\d+)->(\d+) MB, `)

// cycles returns the cycles in the log after a position.
func (v *victim) cycles(from int) []cycle {
	var all []cycle
	for _, match := range aCycle.FindAllStringSubmatch(v.log()[from:], -1) {
		var size [4]int
		for i := 1; i < 4; i++ {
			size[i], _ = strconv.Atoi(match[i]) // the pattern has digits
		}
		all = append(all, cycle{heap: max(size[1], size[2]) << 20, live: size[3] << 20})
	}
	return all
}

func (v *victim) lastCycle() cycle {
	all := v.cycles(0)
	if len(all) == 0 {
		v.Fatal("no cycle of the garbage collector; is GODEBUG=gctrace=1 set?")
	}
	return all[len(all)-1]
}

// peak is the largest heap, and the most that was live, from a place of the log on; at
// least what it was before.
func (v *victim) peak(from int, before cycle) cycle {
	most := before
	for _, c := range v.cycles(from) {
		most = cycle{heap: max(most.heap, c.heap), live: max(most.live, c.live)}
	}
	return most
}

// collected makes the server collect what earlier requests left, by requests that allocate
// and keep nothing: it waits for three cycles that begin with a small heap.
func (v *victim) collected() {
	client := servertest.NewClient()
	defer client.CloseIdleConnections()
	body := strings.Repeat(" ", 900<<10) + "]"
	small := func(c cycle) bool { return c.heap-c.live < 8<<20 }
	for from := len(v.log()); ; {
		if got, err := send(client, http.MethodPost, v.API+"/dev/clock", "application/json", body); err != nil || got.Status != http.StatusBadRequest {
			v.Fatal(got, err)
		}
		if all := v.cycles(from); len(all) > 2 && small(all[len(all)-1]) && small(all[len(all)-2]) && small(all[len(all)-3]) {
			return
		}
	}
}

// refuse sends a body on as many connections, all but its last byte, and then the last
// byte of all. The server may refuse before it has read everything. It returns the
// statuses of the responses, and how often each came; 0 is a connection that ended first.
func (v *victim) refuse(p *proof.Proof, e target, s shape) map[int]int {
	body := s.body(e.size)
	var arrived, done sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	release := make(chan struct{})
	for i := range atOnce {
		arrived.Add(1)
		done.Go(func() {
			conn := v.dial(e.origin)
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(2 * time.Minute))
			head := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nContent-Type: %s\r\n%s", e.method, e.path, strings.TrimPrefix(e.origin, "http://"), s.contentType, strings.ReplaceAll(e.headers, "{n}", s.name+strconv.Itoa(i)))
			length := fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body))
			_, err := io.WriteString(conn, head+length)
			if err == nil {
				_, err = io.WriteString(conn, body[:len(body)-1])
			}
			arrived.Done()
			<-release
			if err == nil {
				_, _ = io.WriteString(conn, body[len(body)-1:])
			}
			status := 0
			if res, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil {
				status = res.StatusCode
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
			}
			mu.Lock()
			defer mu.Unlock()
			statuses[status]++
		})
	}
	arrived.Wait()
	time.Sleep(100 * time.Millisecond) // what is in the sockets' buffers is read meanwhile
	close(release)
	done.Wait()
	p.Tried(atOnce)
	for status := range statuses {
		isRead := slices.Contains([]int{0, http.StatusBadRequest, http.StatusNotFound, http.StatusRequestEntityTooLarge}, status)
		if status >= 500 || !isRead && e.kind != aForm && !e.mayBe401 {
			p.Violation("%v, %s: %v", e, s.name, statuses)
		}
	}
	return statuses
}

// target is an endpoint that accepts a body.
type target struct {
	method, origin, path string
	headers              string
	size                 int // of the largest body that it takes
	kind                 bodyKind
	list, text           string // members of its JSON, or a parameter of its form; no list where it has none
	mayBe401             bool   // it checks the client by the body
}

func (e target) String() string { return e.method + " " + e.path }

type bodyKind string

const (
	aJSON bodyKind = "JSON"
	aForm bodyKind = "form"
	aFile bodyKind = "upload"
)

// targets are all endpoints that take a body; in CI, one of each size.
func (v *victim) targets(data seed.Data) []target {
	person, err := v.signIn("usr_0", "biz_0")
	if err != nil {
		v.Fatal(err)
	}
	defer person.CloseIdleConnections()
	session := "Cookie: " + person.session.Cookie + "\r\n"
	var all []target
	const mebibyte = 1 << 20
	for i, c := range []struct {
		method, path, list, text string
		size                     int
	}{
		{"POST", "/invoices/bulk-import", "invoices", "number", 4 * mebibyte},
		{"PUT", "/app-data", "values", "key", mebibyte},
		{"POST", "/invoices", "", "number", mebibyte},
		{"POST", "/customers", "", "name", mebibyte},
		{"POST", "/suppliers", "", "name", mebibyte},
		{"POST", "/payments", "", "currency", mebibyte},
		{"POST", "/accounts", "", "name", mebibyte},
		{"PATCH", "/accounts/acc_1", "", "name", mebibyte},
		{"POST", "/journal-entries", "lines", "date", mebibyte},
	} {
		// An app may send 300 requests a minute for a business, so each endpoint has one.
		person, access, err := v.connect(data.Apps[0], fmt.Sprintf("usr_%d", i), fmt.Sprintf("biz_%d", i))
		if err != nil {
			v.Fatal(err)
		}
		person.CloseIdleConnections()
		all = append(all, target{
			method: c.method, origin: v.API, path: c.path, size: c.size, kind: aJSON, list: c.list, text: c.text,
			headers: "Idempotency-Key: {n}\r\nAuthorization: Bearer " + access.access + "\r\n",
		})
	}
	for _, c := range []struct{ method, path, list, text string }{
		{"POST", "/developer/apps", "redirectUris", "name"},
		{"PATCH", "/developer/apps/app_0", "scopes", "name"},
		{"POST", "/developer/apps/app_0/webhooks", "events", "url"},
		{"POST", "/developer/apps/app_0/app-data-fields", "choices", "label"},
		{"PUT", "/developer/apps/app_0/listing", "screenshotAssetIds", "description"},
		{"POST", "/developer/apps/app_0/extensions", "", "label"},
		{"POST", "/developer/apps/app_0/functions", "", "source"},
		{"POST", "/developer/apps/app_0/secrets", "", "name"},
		{"POST", "/developer/registration-tokens", "", "organizationId"},
		{"POST", "/dev/events", "", "type"},
		{"POST", "/dev/sessions", "", "userId"},
		{"POST", "/dev/apps/client-0/scopes", "scopes", "scope"},
		{"POST", "/dev/permissions", "permissions", "userId"},
	} {
		all = append(all, target{method: c.method, origin: v.API, path: c.path, headers: session, size: mebibyte, kind: aJSON, list: c.list, text: c.text})
	}
	all = append(all, target{method: "POST", origin: v.API, path: "/developer/apps/app_0/assets", headers: session, size: 5 * mebibyte, kind: aFile},
		target{method: "POST", origin: v.API, path: "/oauth/register", size: 64 << 10, kind: aJSON, list: "redirect_uris", text: "client_name"},
		target{method: "POST", origin: v.API, path: "/oauth/device/authorize", size: 64 << 10, kind: aJSON, list: "resource", text: "scope", mayBe401: true})
	for _, path := range []string{"/oauth/token", "/oauth/revoke", "/oauth/introspect", "/oauth/device/authorize"} {
		all = append(all, target{method: "POST", origin: v.API, path: path, size: 64 << 10, kind: aForm, text: "client_id", mayBe401: true})
	}
	for path, text := range map[string]string{"/login": "email", "/device": "user_code", "/oauth/authorize": "request_id", "/businesses": "business_id", "/settings/apps/uninstall": "app_id"} {
		all = append(all, target{method: "POST", origin: v.App, path: path, headers: session, size: 64 << 10, kind: aForm, text: text})
	}
	for path, text := range map[string]string{"/developer/apps/new": "redirect_uris", "/developer/apps/app_0/fields/new": "choices", "/developer/apps/app_0/listing": "description"} {
		all = append(all, target{method: "POST", origin: v.App, path: path, headers: session, size: 256 << 10, kind: aForm, text: text})
	}
	all = append(all, target{method: "POST", origin: v.App, path: "/developer/apps/app_0/assets", headers: session, size: 5 * mebibyte, kind: aFile})
	if !testenv.Proving() {
		all = slices.DeleteFunc(all, func(e target) bool {
			return !slices.Contains([]string{"/invoices/bulk-import", "/app-data", "/developer/apps/app_0/assets", "/oauth/register"}, e.path)
		})
	}
	return all
}

// shape is a body that an endpoint rejects.
type shape struct {
	name, contentType string
	body              func(size int) string
}

// shapes are the bodies for an endpoint.
func (e target) shapes() []shape {
	switch e.kind {
	case aForm:
		return formShapes(e.text)
	case aFile:
		return fileShapes()
	}
	return jsonShapes(e.list, e.text)
}

// filled repeats a piece between start and end, up to a size; end is one byte or more.
func filled(start, piece, end string) func(size int) string {
	return func(size int) string {
		return start + strings.Repeat(piece, (size-len(start)-len(end))/len(piece)) + end
	}
}

func jsonShapes(list, text string) []shape {
	many := func(n int, entry string) string {
		return strings.TrimSuffix(strings.Repeat(entry+",", n), ",")
	}
	var members strings.Builder
	for i := range 900 {
		fmt.Fprintf(&members, `"m%d":1,`, i)
	}
	object := `{` + strings.TrimSuffix(members.String(), ",") + `}`
	manyMembers := func(size int) string {
		var b strings.Builder
		b.WriteString(`{"m":1`)
		for i := 0; b.Len() < size-20; i++ {
			fmt.Fprintf(&b, `,"m%d":1`, i)
		}
		return b.String() + "}"
	}
	named := `{"` + list + `":[`
	all := []shape{
		{name: "empty objects", body: filled(named+`{}`, `,{}`, `]}`)},
		{name: "numbers", body: filled(named+`1`, `,1`, `]}`)},
		{name: "nested arrays", body: filled(named+`1`, `,`+strings.Repeat("[", 29)+strings.Repeat("]", 29), `]}`)},
		{name: "arrays within bounds", body: filled(`{"x":[[]`, `,[`+many(900, `{}`)+`]`, `]}`)},
		{name: "many members", body: manyMembers},
		{name: "objects within bounds", body: filled(`{"x":[[]`, `,`+object, `]}`)},
		{name: "a long string", body: filled(`{"`+text+`":"`, `x`, `"}`)},
		{name: "a long string in an entry", body: filled(named+`{"`+text+`":"`, `\u0061`, `"}]}`)},
		{name: "white space", body: filled(``, ` `, `]`)},
	}
	if list == "" {
		all = all[3:]
	}
	for i := range all {
		all[i].contentType = "application/json"
	}
	return all
}

func formShapes(text string) []shape {
	all := []shape{
		{name: "many parameters", body: filled(`a=b`, `&a=b`, `&b`)},
		{name: "one parameter", body: filled(text+`=`, `x`, `x`)},
		{name: "percent-encoding", body: filled(text+`=`, `%41`, `x`)},
		{name: "lines", body: filled(text+`=x`, `%0Ax`, `x`)},
		{name: "separators", body: filled(text+`=`, `&`, `&`)},
	}
	for i := range all {
		all[i].contentType = formType
	}
	return all
}

func fileShapes() []shape {
	part := func(name string) string {
		return "--x\r\nContent-Disposition: form-data; name=\"" + name + "\"; filename=\"f\"\r\n\r\n"
	}
	all := []shape{
		{name: "a file of zeros", body: filled(part("kind")+"icon\r\n"+part("file"), "\x00", "\r\n--x--\r\n")},
		{name: "a PNG that never ends", body: filled(part("kind")+"icon\r\n"+part("file")+"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR", "\xff", "\r\n--x--\r\n")},
		{name: "the kind at the end", body: filled(part("file"), "x", "\r\n"+part("kind")+"\r\n--x--\r\n")},
		{name: "a large kind", body: filled(part("kind"), "x", "\r\n--x--\r\n")},
		{name: "many parts", body: filled(part("file")+"x\r\n", part("other")+"x\r\n", "--x--\r\n")},
		{name: "a large header", body: filled("--x\r\n", "A: b\r\n", "\r\n\r\n--x--\r\n")},
	}
	for i := range all {
		all[i].contentType = "multipart/form-data; boundary=x"
	}
	return all
}
