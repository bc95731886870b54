package webhooks_test

import (
	"fmt"
	"time"
)

// behave changes how an endpoint responds.
func (m *model) behave() string {
	return m.setManner(m.dice(modelHooks))
}

func (m *model) setManner(hook int) string {
	how := []int{0, 0, 0, 1, 2, 2, 2, 3, 4, 5, 5}[m.dice(11)]
	m.receivers.set(address(hook), how)
	return fmt.Sprintf("webhook %d: %s", hook, manners[how].name)
}

// advance moves the clock, mostly to when something is due, or just before or after.
func (m *model) advance() string {
	steps := []time.Duration{
		time.Millisecond, time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 6 * time.Hour, 24 * time.Hour,
	}
	if m.isQuiet { // only then: otherwise deliveries planned since the last check could be gone before the next
		steps = append(steps, 29*24*time.Hour, 31*24*time.Hour)
	}
	_, now := m.now()
	for _, d := range m.deliveries {
		for _, s := range d.may {
			if s.isWaiting() && s.due > now {
				steps = append(steps, around(now, s.due)...)
			}
		}
	}
	return m.advanceBy(steps[m.dice(len(steps))])
}

// around are the steps to a time in the future, and a millisecond around it.
func around(now, then int64) []time.Duration {
	d := time.Duration(then-now) * time.Millisecond
	return []time.Duration{d - time.Millisecond, d, d + time.Millisecond}
}

func (m *model) sleep() string {
	d := []time.Duration{time.Millisecond, 999 * time.Millisecond, 3 * time.Second, 10 * time.Second, 25 * time.Second}[m.dice(5)]
	time.Sleep(d)
	return fmt.Sprintf("let %v pass", d)
}

func (m *model) kill() string {
	if m.isDown {
		return ""
	}
	m.process.kill()
	return "kill"
}

// join and leave change how many dispatchers share the work.
func (m *model) join() string {
	if m.isDown || m.process.isKilled() || len(m.process.running) > 2 {
		return ""
	}
	m.process.join()
	return "a dispatcher joins"
}

func (m *model) leave() string {
	if m.isDown || m.process.isKilled() || len(m.process.running) < 2 {
		return ""
	}
	m.process.leave()
	return "a dispatcher leaves"
}
