package jscheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/partnerkit/partnerkit/console"
)

const (
	// maxStack is enough for more than 1,000 nested constructs of any kind.
	maxStack = 32 << 20
	// memoryLimit is where the garbage collector begins to work harder.
	memoryLimit = 64 << 20
)

// result is what the process writes.
type result struct {
	Rejected *console.SourceError `json:"rejected"` // nil: the source is accepted
}

// Main is the process of a [Checker]: it reads a source, checks it and writes the result.
// It limits the stack and the memory of the whole process, which should end after it.
func Main(in io.Reader, out io.Writer) error {
	debug.SetMaxStack(maxStack)
	debug.SetMemoryLimit(memoryLimit)
	source, err := io.ReadAll(io.LimitReader(in, console.MaxFunctionSource+1))
	if err != nil {
		return fmt.Errorf("jscheck: read the source: %w", err)
	}
	var checked result
	if err := Check(context.Background(), string(source)); err != nil && !errors.As(err, &checked.Rejected) {
		return err
	}
	return json.NewEncoder(out).Encode(checked)
}
