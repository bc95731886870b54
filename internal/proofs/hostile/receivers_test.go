//go:build linux

package hostile_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/proof"
)

// modes are how a receiver of webhooks, or the host of a client's document, responses. Each
// is written to the connection until it says stop.
var modes = map[string]func(w io.Writer){
	"gzip bomb": func(w io.Writer) {
		respond(w, "Content-Encoding: gzip\r\nContent-Type: application/json\r\n", gzipBomb())
	},
	"endless body": func(w io.Writer) {
		head(w, "Content-Type: application/json\r\n")
		forever(w, strings.Repeat("x", 64<<10))
	},
	"endless chunks": func(w io.Writer) {
		head(w, "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n")
		forever(w, "1\r\nx\r\n")
	},
	"chunk extensions": func(w io.Writer) {
		head(w, "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n")
		forever(w, "1;"+strings.Repeat("x", 4000)+"\r\nx\r\n")
	},
	"endless headers": func(w io.Writer) {
		_, _ = io.WriteString(w, "HTTP/1.1 200 OK\r\n")
		forever(w, "X: "+strings.Repeat("x", 4000)+"\r\n")
	},
	"endless header": func(w io.Writer) {
		_, _ = io.WriteString(w, "HTTP/1.1 200 OK\r\nX: ")
		forever(w, strings.Repeat("x", 64<<10))
	},
	"flood of 1xx":   func(w io.Writer) { forever(w, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n") },
	"endless status": func(w io.Writer) { _, _ = io.WriteString(w, "HTTP/1.1 200 "); forever(w, strings.Repeat("O", 64<<10)) },
	"switching": func(w io.Writer) {
		_, _ = io.WriteString(w, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n")
		forever(w, "x")
	},
	"garbage": func(w io.Writer) { _, _ = io.WriteString(w, strings.Repeat("\x00\xff", 1000)) },
	"nothing": func(io.Writer) {},
	"redirect": func(w io.Writer) {
		_, _ = io.WriteString(w, "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n")
	},
	"a wrong length": func(w io.Writer) {
		_, _ = io.WriteString(w, "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n")
	},
	"two lengths": func(w io.Writer) {
		_, _ = io.WriteString(w, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx")
	},
	"NULs": func(w io.Writer) {
		respond(w, "Content-Type: application/json\r\n", "{\"client_id\":\"\x00\",\"\xff\":1}")
	},
	"deep": func(w io.Writer) { respond(w, "Content-Type: application/json\r\n", strings.Repeat("[", 5000)) },
}

// delivered are the modes that count as delivered: a 2xx status within the time limit,
// with any body (DLV-01).
var delivered = []string{"gzip bomb", "endless body", "endless chunks", "chunk extensions", "NULs", "deep"}

func head(w io.Writer, headers string) {
	_, _ = io.WriteString(w, "HTTP/1.1 200 OK\r\nConnection: close\r\n"+headers+"\r\n")
}

func respond(w io.Writer, headers, body string) {
	head(w, fmt.Sprintf("%sContent-Length: %d\r\n", headers, len(body)))
	_, _ = io.WriteString(w, body)
}

// forever writes until the client closes the connection, at most 256 MiB.
func forever(w io.Writer, piece string) {
	if n := 16<<10/len(piece) + 1; n > 1 {
		piece = strings.Repeat(piece, n)
	}
	for sent := 0; sent < 256<<20; {
		n, err := io.WriteString(w, piece)
		if sent += n; err != nil {
			return
		}
	}
}

// hostileReceivers starts a listener for each mode and returns their addresses.
func hostileReceivers(t *testing.T) map[string]string {
	t.Helper()
	gzipBomb() // it takes a while, and senders do not wait for long
	where := make(map[string]string)
	for name, response := range modes {
		socket, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { socket.Close() })
		where[name] = "http://" + socket.Addr().String() + "/x"
		go func() {
			for {
				conn, err := socket.Accept()
				if err != nil {
					return
				}
				go func() {
					defer conn.Close()
					_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
					if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
						response(conn)
					}
				}()
			}
		}()
	}
	return where
}

// receivers lets the server send to every receiver, and read every document.
func (v *victim) receivers(developer *browser, where map[string]string) {
	p := proof.Begin(v, "Hostile receivers and document hosts", "answers")
	recorded, err := send(developer.Client, http.MethodPost, v.API+"/dev/events", "application/json", `{"businessId":"biz_1","type":"invoice.created","data":{"id":"inv_1"}}`)
	if err != nil || recorded.Status != http.StatusOK {
		v.Fatalf("record: %v, %v", recorded, err)
	}
	for name, address := range where {
		query := url.Values{"response_type": {"code"}, "client_id": {address}, "redirect_uri": {redirectURI}, "scope": {scopes}}
		got, err := developer.get(v.App + "/oauth/authorize?" + query.Encode())
		p.Tried(1)
		if err != nil || got.Status != http.StatusBadRequest || !strings.Contains(got.Body, "Invalid client_id") || got.problem() != "" {
			p.Violation("a document from %s: %v, %v", name, got, err)
		}
	}
	for name := range where {
		v.wantDelivery(p, developer, name)
	}
}

// wantDelivery waits for the first attempt at a receiver and checks its reported status.
func (v *victim) wantDelivery(p *proof.Proof, developer *browser, mode string) {
	address := v.API + "/developer/apps/app_1/webhooks/whk_" + strings.ReplaceAll(mode, " ", "_") + "/deliveries"
	want := "retrying"
	for _, name := range delivered {
		if name == mode {
			want = "delivered"
		}
	}
	var last response
	for end := time.Now().Add(40 * time.Second); time.Now().Before(end); time.Sleep(300 * time.Millisecond) {
		var err error
		if last, err = developer.get(address); err != nil || last.Status != http.StatusOK {
			p.Violation("%s: %v, %v", mode, last, err)
			return
		}
		var list struct{ Data []struct{ Status string } }
		if err := json.Unmarshal([]byte(last.Body), &list); err != nil {
			p.Violation("%s: %v", mode, err)
			return
		}
		if len(list.Data) == 1 && list.Data[0].Status == want {
			p.Tried(1)
			return
		}
		if len(list.Data) == 1 && list.Data[0].Status != "queued" {
			break
		}
	}
	p.Violation("a delivery to %s is not %s: %v", mode, want, last)
}
