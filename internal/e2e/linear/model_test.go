package linear_test

import "github.com/anishathalye/porcupine"

// state is all that the models know. Each uses a part of it.
type state struct {
	winner     int // the client that got tokens; 0 if no client did
	generation int // of a family
	isOver     bool
	isPolled   bool
	status     string // of a device code
}

// call is what a client asked for. About is the client, or the generation of tokens,
// that it concerns.
type call struct {
	verb  string
	about int
}

const (
	live = "live"
	gone = "gone"
)

// model is a thing with its first state and what may follow.
type model struct {
	first state
	step  func(s state, c call, response string) (bool, state)
}

func (m model) check(history []porcupine.Operation) bool {
	return porcupine.CheckOperations(porcupine.Model{
		Init: func() any { return m.first },
		Step: func(s, c, response any) (bool, any) { return m.step(s.(state), c.(call), response.(string)) },
	}, history)
}

// isLive says whether tokens of a winner are as verified.
func isLive(is bool, response string) bool { return is == (response == live) }

var (
	// CODE-06: the first one redeems; every later one ends what it got.
	codeModel = model{step: func(s state, c call, response string) (bool, state) {
		next := s
		switch {
		case c.verb == "verify":
			return isLive(s.winner == c.about && !s.isOver, response), s
		case response == "issued":
			next.winner = c.about
			return s.winner == 0, next
		}
		next.isOver = true
		return s.winner != 0, next
	}}
	// REF-01, REF-02, REF-03: one generation follows the other, until one is presented again.
	familyModel = model{first: state{generation: 1}, step: func(s state, c call, response string) (bool, state) {
		next := s
		switch {
		case c.verb == "verify":
			return isLive(s.generation == c.about && !s.isOver, response), s
		case c.verb == "revoke":
			next.isOver = true
			return true, next
		case response == "issued":
			next.generation++
			return !s.isOver && s.generation == c.about, next
		case response == "lost":
			next.isOver = true
			return !s.isOver && s.generation > c.about, next
		}
		return s.isOver, s
	}}
	// DEV-04, DEV-06, DEV-07: decided once, collected once.
	deviceModel = model{first: state{status: "PENDING"}, step: func(s state, c call, response string) (bool, state) {
		next := s
		switch c.verb + " " + response {
		case "approve done":
			next.status = "APPROVED"
			return s.status == "PENDING", next
		case "deny done":
			next.status = "DENIED"
			return s.status == "PENDING", next
		case "approve not open", "deny not open":
			return s.status != "PENDING", s
		case "poll pending":
			next.isPolled = true
			return s.status == "PENDING" && !s.isPolled, next
		case "poll slow down":
			return s.status == "PENDING" && s.isPolled, s
		case "poll denied":
			return s.status == "DENIED", s
		case "poll issued":
			next.status, next.winner = "COLLECTED", c.about
			return s.status == "APPROVED", next
		case "poll dead":
			return s.status == "COLLECTED", s
		}
		return isLive(s.winner == c.about, response), s // verify
	}}
	// TX-04: exchanged once, while the app is installed.
	sessionModel = model{step: func(s state, c call, response string) (bool, state) {
		next := s
		switch {
		case c.verb == "verify":
			return isLive(s.winner == c.about && !s.isOver, response), s
		case c.verb == "uninstall":
			next.isOver = true
			return s.isOver == (response == gone), next
		case response == "issued":
			next.winner = c.about
			return s.winner == 0 && !s.isOver, next
		}
		return s.winner != 0 || s.isOver, s
	}}
)
