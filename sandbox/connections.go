package sandbox

import (
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/partnerkit/partnerkit/ratelimit"
)

// connectionLimit bounds how many connections are open at a time: those of one network,
// which is an IPv4 address or an IPv6 /64, and those of all clients together. Each
// connection is an open file of the process, and without a limit one client that opens
// connections and sends nothing keeps everybody else out. The addresses of trusted proxies
// have no limit of their own, because many clients connect through them.
//
// A connection beyond the limits is closed without a response: a response that tells why
// would keep the file open longer.
type connectionLimit struct {
	each, all int
	proxies   ratelimit.Proxies
	refused   func() // counts a refused connection
	log       *slog.Logger

	mu    sync.Mutex
	open  map[netip.Prefix]int
	total int
	told  time.Time // when the last refusal was logged
}

// leastPerNetwork is how many connections a network has at least, however few files the
// process may open: tests under load come from one address.
const leastPerNetwork = 512

// defaultOpenFiles stands for the limit of an operating system that has none.
const defaultOpenFiles = 16384

// newConnectionLimit returns the limits of a process that may open so many files. All
// clients together have three quarters of them; the rest is for the database and for
// webhooks. One network has a quarter.
func newConnectionLimit(files int, proxies ratelimit.Proxies, refused func(), log *slog.Logger) *connectionLimit {
	all := files / 4 * 3
	return &connectionLimit{
		each: min(max(files/4, leastPerNetwork), all), all: all, proxies: proxies, refused: refused, log: log,
		open: make(map[netip.Prefix]int),
	}
}

// note is the ConnState of each http.Server of the process. A refused connection counts
// until the server notices that it is closed, which is at once.
func (l *connectionLimit) note(c net.Conn, state http.ConnState) {
	var change int
	switch state {
	case http.StateNew:
		change = 1
	case http.StateClosed, http.StateHijacked:
		change = -1
	default:
		return
	}
	from, limited := l.network(c)
	if l.change(from, limited, change) {
		return
	}
	_ = c.Close()
	l.refused()
}

// network returns the network that a connection counts under, and whether it has a limit.
func (l *connectionLimit) network(c net.Conn) (from netip.Prefix, limited bool) {
	tcp, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}, false
	}
	ip := tcp.AddrPort().Addr()
	return ratelimit.Network(ip), !l.proxies.IsTrusted(ip)
}

// change counts a connection that begins or ends, and reports whether it may stay open.
func (l *connectionLimit) change(from netip.Prefix, limited bool, change int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total += change
	count := l.open[from] + change
	if l.open[from] = count; count == 0 {
		delete(l.open, from)
	}
	if change < 0 || l.total <= l.all && (!limited || count <= l.each) {
		return true
	}
	if now := time.Now(); now.Sub(l.told) > time.Minute {
		l.told = now
		l.log.Warn("connection refused: too many are open", "network", from, "of_network", count, "of_all", l.total)
	}
	return false
}
