package jscheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/partnerkit/partnerkit/console"
)

const (
	// maxStack is enough for more than 1,000 nested constructs of any kind.
	maxStack = 32 << 20
	// maxMemory is for all of the process. From half of it the garbage collector works
	// harder.
	maxMemory = 128 << 20
)

// What a process says before it dies. The first is Go's own message.
const (
	stackOverflow = "stack overflow"
	outOfMemory   = "jscheck: too much memory"
)

// result is the output of the process.
type result struct {
	Rejected *console.SourceError `json:"rejected"` // nil: the source is accepted
}

// Main is the process of a [Checker]: it reads a source, checks it and writes the result.
// It limits the stack and the memory of the whole process, which it ends when they are
// not enough, and which should end after it.
func Main(in io.Reader, out io.Writer) error {
	debug.SetMaxStack(maxStack)
	debug.SetMemoryLimit(maxMemory / 2)
	go limitMemory()
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

// limitMemory ends the process when it has too much memory: Go has no such limit.
func limitMemory() {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	for {
		metrics.Read(sample)
		if sample[0].Value.Uint64() > maxMemory {
			_, _ = fmt.Fprintln(os.Stderr, outOfMemory)
			os.Exit(1)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
