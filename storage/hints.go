package storage

// Hints tells a worker that something was committed on a topic that it watches. A hint
// carries no data and may be lost; hints that wait are merged. It is safe for concurrent use.
type Hints struct {
	// C receives when there are hints.
	C <-chan struct{}
	// Take returns the keys of the hints since it was called last, each with the least
	// of its ids, and whether there may have been others.
	Take func() (keys map[string]string, hasOthers bool)
	// Stop ends the watching.
	Stop func()
}

// Hint is that something was committed on a topic. A topic may have hints for single keys,
// each from an id on.
type Hint struct{ Topic, Key, From string }
