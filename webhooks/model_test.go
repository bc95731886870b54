package webhooks_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/webhooks"
)

// modelSeedVar repeats one sequence of TestModel, as its name says.
const modelSeedVar = "PARTNERKIT_TEST_MODEL_SEED"

const modelVersion = "2026-09-01"

// DLV-01 to DLV-05, DLV-08, CAT-02, RDL-01 to RDL-03, WH-02, WH-03, SIG-01, SIG-02, TST-02:
// for random sequences of operations the sender behaves as allowed by an independent model
// of the rules. Nothing is sent through a closed gate, nothing is lost or stuck, nothing is
// recorded a seventh time, and nothing is sent twice but after a crash.
func TestModel(t *testing.T) {
	t.Parallel()
	first, sequences := uint64(1), testenv.Rounds(12, 1000)
	if testenv.Proving() {
		first = uint64(time.Now().UnixNano())
	}
	if text := os.Getenv(modelSeedVar); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", modelSeedVar, err)
		}
		first, sequences = seed, 1
	}
	for i := range sequences {
		seed := first + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { newModel(t, seed).run(50) })
		})
	}
}

// model is a sender, its settings, and the state that the rules allow for both.
type model struct {
	*harness
	seed uint64
	rand *rand.Rand

	receivers *receivers
	process   *process      // that lives
	processes []*process    // all that there were
	killed    map[int]int64 // processes by number, and when in real time

	order    int // of operations
	settings settings
	seen     []numberedSettings // that a dispatcher can have seen since the last check
	offsets  []movedClock       // since then
	isQuiet  bool               // nothing has happened since then
	isDown   bool               // no dispatcher runs

	apps       [modelApps]app
	pending    []*happening
	deliveries []*modelDelivery
	byID       map[string]*modelDelivery
	cleaned    int64 // what was old then is gone
	trace      []string
}

type numberedSettings struct {
	settings
	number int
}

type movedClock struct{ since, offset int64 }

func newModel(t *testing.T, seed uint64) *model {
	m := &model{
		harness: newHarness(t, webhooks.Config{}), seed: seed, rand: rand.New(rand.NewPCG(seed, 0)), killed: map[int]int64{}, byID: map[string]*modelDelivery{},
		seen: make([]numberedSettings, 1), offsets: make([]movedClock, 1), isQuiet: true,
	}
	m.receivers = newReceivers(t, m.clock)
	t.Cleanup(func() {
		for _, p := range m.processes {
			p.stop()
		}
	})
	m.spawn()
	m.process.join()
	m.populate()
	m.settle()
	return m
}

// run does some steps, and looks at everything after each; then it lets all that
// waits come to its end, and grow old.
func (m *model) run(steps int) {
	for range steps {
		m.step()
		m.settle()
	}
	for i := range modelHooks {
		m.receivers.set(address(i), 2*m.dice(2)) // good or broken
	}
	time.Sleep(webhooks.AttemptTimeout) // for what is under way
	m.settle()
	for range webhooks.MaxAttempts + 1 {
		m.perform(func() string { return m.advanceBy(7 * time.Hour) })
		m.settle()
	}
	for _, d := range m.deliveries {
		for _, s := range d.may {
			if !d.isGone && (s.isWaiting() || s.flight.process != 0) {
				m.fail("%s does not end: %v", d.id, s)
			}
		}
	}
	m.perform(func() string { return m.advanceBy(31 * 24 * time.Hour) })
	m.settle()
	for _, d := range m.deliveries {
		if !d.isGone {
			m.fail("%s is kept", d.id)
		}
	}
}

// step performs one operation, or several without a pause while no dispatcher runs or
// before a process is killed.
func (m *model) step() {
	some := func(most int) {
		for range 1 + m.dice(most) {
			m.operation()
		}
	}
	switch n := m.dice(100); {
	case n < 65:
		m.operation()
	case n < 80:
		some(4)
	case n < 88:
		m.perform(func() string { m.process.stop(); return "stop" })
		if m.process.isKilled() {
			return // it was armed
		}
		m.check(0)
		m.isDown = true
		some(3)
		if m.isDown = false; m.dice(2) == 0 {
			m.spawn()
		}
		m.perform(func() string { m.process.join(); return "start" })
	default:
		m.perform(func() string {
			calls, isAfter := 1+m.dice(25), m.dice(2) == 0
			m.process.arm(calls, isAfter)
			return fmt.Sprintf("arm: it dies at call %d, carried out: %v", calls, isAfter)
		})
		some(3)
	}
}

// become changes the settings. A dispatcher that rests, or does not run, has not seen
// what was before.
func (m *model) become(change func(w *settings)) {
	last := m.seen[len(m.seen)-1]
	change(&m.settings)
	if m.isQuiet || m.isDown {
		m.seen = nil
	}
	m.seen = append(m.seen, numberedSettings{m.settings, last.number + 1})
}

func (m *model) advanceBy(d time.Duration) string {
	last := m.offsets[len(m.offsets)-1]
	if m.isQuiet || m.isDown {
		m.offsets = nil
	}
	m.offsets = append(m.offsets, movedClock{time.Now().UnixMilli(), last.offset + d.Milliseconds()})
	m.must(m.clock.Advance(d))
	return fmt.Sprintf("advance the clock by %v", d)
}

// now is the real time and that of the clock, in Unix milliseconds.
func (m *model) now() (real, clock int64) { return time.Now().UnixMilli(), m.clock.Now().UnixMilli() }

// offsetsAt are how far the clock can have been ahead at a real time.
func (m *model) offsetsAt(real int64) []int64 {
	all := []int64{m.offsets[0].offset}
	for _, moved := range m.offsets[1:] {
		if moved.since < real {
			all = all[:0]
		}
		if moved.since <= real {
			all = append(all, moved.offset)
		}
	}
	return all
}

// startsOf are when, by the clock, an attempt can have begun that arrived.
func (m *model) startsOf(p arrival) []int64 {
	var all []int64
	for _, offset := range m.offsetsAt(p.real) {
		if p.real+offset <= p.clock {
			all = append(all, p.real+offset)
		}
	}
	return all
}

// revive starts a new process if the last one was killed.
func (m *model) revive() {
	if !m.process.isKilled() {
		return
	}
	synctest.Wait()
	m.process.underWay.Wait()
	m.killed[m.process.number] = m.process.died.UnixMilli()
	m.note("process %d was killed at %s, real time; a new one starts", m.process.number, showMS(m.killed[m.process.number]))
	m.spawn()
	m.process.join()
}

func (m *model) note(format string, args ...any) {
	_, clock := m.now()
	m.trace = append(m.trace, fmt.Sprintf("%s %s", showMS(clock), fmt.Sprintf(format, args...)))
}

func (m *model) fail(format string, args ...any) {
	m.t.Helper()
	m.t.Fatalf("%s\n\n%s\n\nrepeat with %s=%d", fmt.Sprintf(format, args...), strings.Join(m.trace, "\n"), modelSeedVar, m.seed)
}
