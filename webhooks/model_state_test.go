package webhooks_test

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// manner is how an endpoint responds.
type manner struct {
	name      string
	takes     time.Duration
	code      int
	lastError string // empty: a success
}

// The manners of endpoints. A slow one is fast enough, one that hangs is not.
var manners = []manner{
	{"good", 0, 204, ""},
	{"slow", 8 * time.Second, 200, ""},
	{"broken", 0, 500, "answered with status 500"},
	{"redirect", 0, 302, "answered with status 302"},
	{"cut", 0, 0, "invalid response"},
	{"hang", 10 * time.Second, 0, "timed out"},
}

// modelDelivery is what the model knows of a delivery: all that it may be by now. Usually
// that is one state. There are several if a gate closes while a delivery comes due, or
// after a crash; the database then determines the state.
type modelDelivery struct {
	id      string
	event   *happening // nil: a test
	hook    int
	body    string
	created int64
	isGone  bool
	may     []modelState
}

// modelState is the state of a delivery. Times are in Unix milliseconds.
type modelState struct {
	status    string
	attempts  int
	code      int
	lastError string
	due       int64  // 0 unless queued or retrying
	log       string // of recorded attempts
	flight    modelFlight
}

// modelFlight is an attempt that is not recorded; process 0 means none.
type modelFlight struct {
	process int
	started int64 // by the clock
	ends    int64 // in real time
	manner  int
	repeats bool // its connection ends without a response
}

// flightOf returns the flight of a request. net/http repeats one that is cut off if its
// connection has been idle before. That is so for a connection that was dialed for another
// request too, which then got an idle one: here it cannot be told from a new one.
func flightOf(p arrival, started int64) modelFlight {
	how := manners[p.manner]
	return modelFlight{
		process: p.process, started: started, ends: p.real + how.takes.Milliseconds(), manner: p.manner,
		repeats: how.name == "cut",
	}
}

func (s modelState) isWaiting() bool {
	return (s.status == "queued" || s.status == "retrying") && s.flight.process == 0
}

func (s modelState) String() string {
	flight := ""
	if f := s.flight; f.process != 0 {
		flight = fmt.Sprintf(", in flight (%s) since %s of process %d", manners[f.manner].name, showMS(f.started), f.process)
	}
	return fmt.Sprintf("%s, %d attempts, code %d, due %s, %q, log %s%s", s.status, s.attempts, s.code, showMS(s.due), s.lastError, s.log, flight)
}

func showMS(at int64) string {
	if at == 0 {
		return "never"
	}
	return time.UnixMilli(at).UTC().Format("01-02 15:04:05.000")
}

// queuedState is RDL-01 and the start: due at once, with no attempts; what was
// recorded before stays.
func queuedState(now int64, log string) modelState {
	return modelState{status: "queued", due: now, log: log}
}

// ended is DLV-01: what the attempt in flight makes of the delivery when it ends.
func (s modelState) ended(now int64) modelState {
	how := manners[s.flight.manner]
	s.attempts++
	s.log = withEntry(s.log, logEntry(s.flight.started, s.attempts, how.code))
	s.code, s.lastError, s.due, s.flight = how.code, how.lastError, 0, modelFlight{}
	switch {
	case how.lastError == "":
		s.status = "delivered"
	case s.attempts == 6:
		s.status = "failed"
	default:
		s.status = "retrying"
		pause := []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour}[s.attempts-1]
		s.due = now + pause.Milliseconds()
	}
	return s
}

// dropped is DLV-03: the delivery is not sent. Its response code is then unspecified.
func (s modelState) dropped(why string) []modelState {
	s.status, s.lastError, s.due = "failed", why, 0
	blank := s
	blank.code = 0
	return []modelState{s, blank}
}

func logEntry(started int64, number, code int) string {
	return fmt.Sprintf("[%s #%d %d]", showMS(started), number, code)
}

// withEntry adds to a log, which is in order of its texts: two attempts of one
// millisecond, with a redelivery between them, have no other.
func withEntry(log, entry string) string {
	all := append(strings.SplitAfter(log, "]"), entry)
	slices.Sort(all)
	return strings.Join(all, "")
}

// landed is all that a state can be at a time when another process may have taken
// over: its flight has ended and was recorded, or was lost with its process.
func (m *model) landed(s modelState, now int64, by int) []modelState {
	f := s.flight
	if f.process == 0 {
		return []modelState{s}
	}
	killed, wasKilled := m.killed[f.process]
	var all []modelState
	if f.ends <= now && (!wasKilled || f.ends <= killed) {
		for _, offset := range m.offsetsAt(f.ends) {
			all = append(all, s.ended(f.ends+offset))
		}
	}
	if wasKilled && by > f.process {
		s.flight = modelFlight{}
		all = append(all, s)
	}
	return all
}

// posted is all that a state can be when an attempt has arrived: before it, it was
// waiting and due, and no gate was closed. DLV-05: or the same attempt was cut off.
func (m *model) posted(d *modelDelivery, s modelState, p arrival) []modelState {
	isOpen := slices.ContainsFunc(m.seen, func(w numberedSettings) bool { return w.closed(d) == "" })
	var all []modelState
	if f := s.flight; f.repeats && f.process == p.process && f.ends == p.real {
		again := s
		again.flight = flightOf(p, f.started)
		all = append(all, again)
	}
	for _, before := range m.landed(s, p.real, p.process) {
		for _, started := range m.startsOf(p) {
			if before.isWaiting() && before.due <= started && isOpen {
				before.flight = flightOf(p, started)
				all = append(all, before)
				before.flight = modelFlight{}
			}
		}
	}
	return all
}

// settled is all that a state can be once everything has been done that was due at
// a time. What is due is sent, in which case it is in flight, or dropped.
func (m *model) settled(d *modelDelivery, s modelState, due int64) []modelState {
	real, clock := m.now()
	if s.flight.process == m.process.number && s.flight.ends > real {
		return []modelState{s}
	}
	var all []modelState
	for _, now := range m.landed(s, real, m.process.number) {
		if !now.isWaiting() || now.due > due {
			all = append(all, now)
		}
		if !now.isWaiting() || now.due > clock {
			continue
		}
		for _, w := range m.seen {
			if why := w.closed(d); why != "" {
				all = append(all, now.dropped(why)...)
			}
		}
	}
	return all
}
