//go:build linux

package hostile_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/examples/server/servertest"
)

// dial connects to one of the hosts from a new address.
func (v *victim) dial(origin string) net.Conn {
	v.Helper()
	u, err := url.Parse(origin)
	if err != nil {
		v.Fatal(err)
	}
	conn, err := servertest.NewDialer().Dial("tcp", u.Host)
	if err != nil {
		v.Fatal(err)
	}
	return conn
}

// raw sends bytes unchanged and returns all responses until the server closes the
// connection. The last request must make the server close it.
func (v *victim) raw(origin, request string) []response {
	v.Helper()
	conn := v.dial(origin)
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = io.WriteString(conn, request) // the server may stop reading
	}()
	var all []response
	for in := bufio.NewReader(conn); ; {
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			break
		}
		body, err := io.ReadAll(res.Body)
		all = append(all, response{servertest.Response{Status: res.StatusCode, Header: res.Header, Body: string(body)}})
		if err != nil || res.Close {
			break
		}
	}
	conn.Close()
	<-sent
	return all
}

// problem describes what is wrong with the response to a request that no client should
// send: an internal error, or an error in another format than ERR-02 and OERR-01 require.
// Pages must show an alert.
func (a response) problem() (problem string) {
	contentType := a.Header.Get("Content-Type")
	switch {
	case a.Status >= 500:
		return "a fault"
	case a.Status < 400:
		return ""
	case strings.HasPrefix(contentType, "text/html"):
		if !strings.Contains(a.Body, `role="alert"`) || a.Header.Get("X-Frame-Options") != "DENY" {
			return "a page without an alert, or that can be framed"
		}
		return ""
	case contentType != "application/json":
		return "an error of the type " + contentType
	}
	var members struct {
		StatusCode int
		Error      string
		Message    any
	}
	if err := json.Unmarshal([]byte(a.Body), &members); err != nil || members.Error == "" || members.Message == nil || members.StatusCode != 0 && members.StatusCode != a.Status {
		return "an error of another shape"
	}
	return ""
}
