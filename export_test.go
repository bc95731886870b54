package partnerkit

import "context"

// Part is a loop, for tests of the order in which they stop.
type Part = part

// NewPart makes one.
func NewPart(name string, run func(context.Context) error) Part { return part{name, run} }

// RunInOrder is what Run does with the platform's parts.
var RunInOrder = runInOrder
