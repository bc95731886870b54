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
	// maxMemory is for all of the process. From half of heapMemory, which leaves room for the
	// program and for what is allocated between two looks, the garbage collector works harder.
	maxMemory  = 128 << 20
	heapMemory = 104 << 20
	// maxProcessorTime is a whole number of seconds, as the operating system counts them.
	maxProcessorTime = 2 * time.Second
)

// stackOverflow and outOfMemory are in what a process says before it dies: Go's own messages,
// and tooMuchMemory.
const (
	stackOverflow = "stack overflow"
	tooMuchMemory = "jscheck: too much memory"
)

var outOfMemory = []string{tooMuchMemory, "out of memory", "cannot allocate memory"}

// result is the output of the process.
type result struct {
	Rejected *console.SourceError `json:"rejected"` // nil: the source is accepted
}

// Main is the process of a [Checker]: it reads a source, checks it and writes the result.
// It limits the stack, the memory and the processor time of the whole process, which ends when
// they are not enough, and which should end after it. On Linux and macOS the operating system
// limits them too.
func Main(in io.Reader, out io.Writer) error {
	if err := limitProcess(); err != nil {
		return fmt.Errorf("jscheck: limit the process: %w", err)
	}
	debug.SetMaxStack(maxStack)
	debug.SetMemoryLimit(heapMemory / 2)
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

// limitMemory ends the process when Go has too much memory: it has no such limit itself.
func limitMemory() {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	for {
		metrics.Read(sample)
		if sample[0].Value.Uint64() > heapMemory {
			_, _ = fmt.Fprintln(os.Stderr, tooMuchMemory)
			os.Exit(1)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
