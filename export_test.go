package partnerkit

import "context"

// Loop is a loop, for tests of the order in which they stop.
type Loop = loop

// NewLoop makes one.
func NewLoop(name string, run func(context.Context) error) Loop { return loop{name, run} }

// RunInOrder is what Run does with the platform's loops.
var RunInOrder = runInOrder

// Loops returns the loops of a platform by name.
func Loops(p *Platform) map[string]func(context.Context) error {
	all := map[string]func(context.Context) error{}
	for _, one := range p.loops() {
		all[one.name] = one.run
	}
	return all
}
