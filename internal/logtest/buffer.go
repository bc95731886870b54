// Package logtest keeps logs for tests.
package logtest

import (
	"strings"
	"sync"
)

// Buffer is an io.Writer that can be read while others write. The zero Buffer is empty.
type Buffer struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String returns what was written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// Count returns how often a text was written so far.
func (b *Buffer) Count(text string) int { return strings.Count(b.String(), text) }
