package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/serving"
)

// listeners are the sockets of the two hosts, and of the metrics where they are served.
type listeners struct {
	api, app *endpoint
	metrics  *endpoint // nil: not served
}

// listen opens the addresses that the flags name.
func (o options) listen(ctx context.Context) (on listeners, err error) {
	defer func() {
		if err != nil {
			on.close()
		}
	}()
	if on.api, err = listen(ctx, "-api", o.api); err != nil {
		return on, err
	}
	if on.app, err = listen(ctx, "-app", o.app); err != nil || o.metrics == "" {
		return on, err
	}
	on.metrics, err = listen(ctx, "-metrics", o.metrics)
	return on, err
}

// close is for a start that fails; afterwards the HTTP servers close sockets.
func (on listeners) close() {
	for _, e := range []*endpoint{on.api, on.app, on.metrics} {
		if e != nil {
			closeAll(e.sockets)
		}
	}
}

// endpoint is one of the two hosts, or the metrics: one or two sockets on one port.
type endpoint struct {
	flag    string
	host    string // as it was asked for, without port
	port    int
	sockets []net.Listener
}

// site serves on the sockets. Errors of the HTTP server itself have the standard shape.
func (e *endpoint) site(h http.Handler, limit *connectionLimit, errors apierror.Writer) serving.Site {
	site := serving.Site{Server: &http.Server{Handler: h, ConnState: limit.note}}
	for _, socket := range e.sockets {
		site.Sockets = append(site.Sockets, shapedListener{socket, errors})
	}
	return site
}

// listen opens the address of a flag. localhost means 127.0.0.1 and, where the
// machine has it, ::1, so that clients can resolve localhost to either address.
func listen(ctx context.Context, flag, address string) (*endpoint, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, notAddress(flag, address)
	}
	addresses := []string{host}
	if strings.EqualFold(host, "localhost") {
		addresses = []string{"127.0.0.1", "::1"}
	}
	sockets, err := listenAll(ctx, addresses, port)
	// A port that is free on one address may be taken on the other.
	for tries := 0; err != nil && port == "0" && errors.Is(err, syscall.EADDRINUSE) && tries < 20; tries++ {
		sockets, err = listenAll(ctx, addresses, port)
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s %s: another program listens there (%w); stop it, or choose another port", flag, address, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", flag, address, err)
	}
	e := &endpoint{flag: flag, host: host, sockets: sockets}
	if tcp, ok := sockets[0].Addr().(*net.TCPAddr); ok {
		e.port = tcp.Port
	}
	return e, nil
}

func notAddress(flag, address string) error {
	return usage(fmt.Errorf("%s %q is not an address like localhost:8080", flag, address))
}

func listenAll(ctx context.Context, addresses []string, port string) ([]net.Listener, error) {
	var config net.ListenConfig
	var sockets []net.Listener
	var absent error
	for _, address := range addresses {
		socket, err := config.Listen(ctx, "tcp", net.JoinHostPort(address, port))
		switch {
		case err == nil:
			sockets = append(sockets, socket)
			if tcp, ok := socket.Addr().(*net.TCPAddr); ok {
				port = strconv.Itoa(tcp.Port) // the next one has to have the same
			}
		case isAbsent(err):
			absent = err
		default:
			closeAll(sockets)
			return nil, err
		}
	}
	if len(sockets) == 0 {
		return nil, absent
	}
	return sockets, nil
}

// isAbsent reports that this machine does not have the address, as one without
// IPv6 does not have ::1.
func isAbsent(err error) bool {
	return errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT) || errors.Is(err, syscall.EPROTONOSUPPORT)
}

func closeAll(sockets []net.Listener) {
	for _, socket := range sockets {
		_ = socket.Close() // no client has connected yet
	}
}

// url returns the origin under which the endpoint is reached: the public one where it
// is given.
func (e *endpoint) url(public string) string {
	if public != "" {
		return normalOrigin(strings.TrimSuffix(public, "/"))
	}
	return "http://" + net.JoinHostPort(e.host, strconv.Itoa(e.port))
}

// normalOrigin spells an origin as browsers do: lower case, no default port. What
// is no URL stays as it is, for others to refuse.
func normalOrigin(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if port := u.Port(); u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	return u.String()
}

// addresses returns the addresses on which it really listens.
func (e *endpoint) addresses() string {
	all := make([]string, 0, len(e.sockets))
	for _, socket := range e.sockets {
		all = append(all, socket.Addr().String())
	}
	return strings.Join(all, " ")
}
