//go:build linux

package powerloss_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/partnerkit/partnerkit/internal/proof"
	"github.com/partnerkit/partnerkit/internal/testenv"
)

// seedVar and traceVar repeat a run: the choices, and the recorded calls.
const (
	seedVar  = "PARTNERKIT_POWERLOSS_SEED"
	traceVar = "PARTNERKIT_POWERLOSS_TRACE"
)

func seedOf(t *testing.T) uint64 {
	t.Helper()
	seed, err := strconv.ParseUint(os.Getenv(seedVar), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	t.Logf("%s=%d", seedVar, seed)
	return seed
}

// After a power loss the database is whole and has every acknowledged operation, and no
// operation is there in part. Checkpoints are frequent, so that many moments lie in one.
func TestPowerLoss(t *testing.T) {
	testenv.Long(t)
	l := load{Writers: 6, Operations: testenv.Rounds(12, 60), Pages: 40, Filler: 6000}
	p := proof.Begin(t, "Power losses, SQLite", "images")
	s := record(t, l)
	s.test(p, testenv.Rounds(30, len(s.points)), testenv.Rounds(3, 6))
	for _, name := range []string{databaseName, databaseName + "-wal", folderName} {
		t.Run("control without syncs of "+name, func(t *testing.T) { s.control(t, name) })
	}
	t.Run("control with synchronous NORMAL", func(t *testing.T) {
		l := l
		l.Synchronous = "NORMAL" // the log is synced before a checkpoint, not at each commit
		record(t, l).control(t, "")
	})
}

// The same with checkpoints as storage/sqlite has them by default.
func TestPowerLossDefaultCheckpoints(t *testing.T) {
	if !testenv.Proving() {
		t.Skipf("the log is long before its first checkpoint: set %s=1", testenv.ProveVar)
	}
	p := proof.Begin(t, "Power losses, default checkpoints, SQLite", "images")
	s := record(t, load{Writers: 8, Operations: 60, Filler: 30000}) // a little more than one log
	s.test(p, 150, 4)
}

// session is what the child did.
type session struct {
	*testing.T
	load   load
	seed   uint64
	trace  string // file
	events []event
	// The numbers of events before which the power can fail, and those among them that
	// end a checkpoint.
	points, checkpoints []int
}

// record runs the child under strace, or reads an earlier trace.
func record(t *testing.T, l load) *session {
	t.Helper()
	s := &session{T: t, load: l, seed: seedOf(t), trace: os.Getenv(traceVar)}
	if s.trace == "" || l.Synchronous != "" { // controls are recorded every time
		s.trace = l.strace(t)
	}
	file, err := os.Open(s.trace)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if s.events, err = parseTrace(file); err != nil {
		t.Fatal(err)
	}
	acks := 0
	for i, e := range s.events {
		switch {
		case e.Kind == ack && !e.IsEnd:
			acks++
		case e.Kind == syncFile && e.IsEnd: // until then, the most changes are not synced
			if e.Name == databaseName {
				s.checkpoints = append(s.checkpoints, i)
			}
		default:
			continue
		}
		s.points = append(s.points, i)
	}
	s.points = append(s.points, len(s.events))
	if want := l.Writers * (l.Operations + 1); acks != want {
		t.Fatalf("%d acknowledgements in the trace, want %d", acks, want)
	}
	if len(s.checkpoints) < 3 { // creating and closing the database are two
		t.Fatalf("%d syncs of the database file in the trace: there was no checkpoint under load", len(s.checkpoints))
	}
	t.Logf("%d operations, %d events, %d syncs of the database file", acks, len(s.events), len(s.checkpoints))
	return s
}

// strace runs the child under strace and returns the file that strace wrote.
func (l load) strace(t *testing.T) string {
	t.Helper()
	testenv.Programs(t, "strace")
	if out, err := exec.Command("strace", "-f", "--seccomp-bpf", "-o", os.DevNull, os.Args[0], "-test.run=^$").CombinedOutput(); err != nil {
		if testenv.Proving() {
			t.Fatalf("strace cannot trace a process: %v\n%s", err, out)
		}
		// In CI too: some machines forbid tracing, and installing strace does not help.
		t.Skipf("needs the right to trace processes with strace: %v\n%s", err, out)
	}
	folder := t.TempDir()
	l.Folder = filepath.Join(folder, folderName)
	if err := os.Mkdir(l.Folder, 0o700); err != nil {
		t.Fatal(err)
	}
	value, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "trace")
	cmd := exec.Command("strace", append(slices.Clone(straceFlags), "-o", file, os.Args[0])...)
	cmd.Env = append(os.Environ(), childVar+"="+string(value))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the child: %v\n%s", err, out)
	}
	return file
}

// test checks the given number of images of each checkpoint and of the given number of
// other points, and reports the violations.
func (s *session) test(p *proof.Proof, points, images int) {
	s.Helper()
	var kept sync.Once
	choices := s.each("", append(s.random(points), s.checkpoints...), images, func(sample sample, err error) {
		p.Tried(1)
		if err == nil {
			return
		}
		p.Violation("seed %d, event %d, image %d: %v", s.seed, sample.point, sample.number, err)
		kept.Do(func() { s.keep(sample) })
	})
	p.Notef("%d operations, %d events, %d images with a choice; seed %d", s.load.Writers*s.load.Operations, len(s.events), choices, s.seed)
}

// control ignores the syncs of one file: the checks must notice.
func (s *session) control(t *testing.T, unsynced string) {
	var noticed, tried atomic.Int64
	var first sync.Once
	s.each(unsynced, s.random(15), 3, func(sample sample, err error) {
		tried.Add(1)
		if err != nil {
			noticed.Add(1)
			first.Do(func() { t.Logf("for example at event %d: %v", sample.point, err) })
		}
	})
	t.Logf("%d of %d images are damaged", noticed.Load(), tried.Load())
	if noticed.Load() == 0 {
		t.Error("without syncs nothing was lost, so this test cannot notice a loss")
	}
}

// sample is one image, and what it must hold.
type sample struct {
	point, number int
	image         image
	acked         []int // the last acknowledged operation of each writer, or -1
}

// random returns n points that the seed selects.
func (s *session) random(n int) (points []int) {
	rng := rand.New(rand.NewPCG(s.seed, 0))
	for _, i := range rng.Perm(len(s.points))[:min(n, len(s.points))] {
		points = append(points, s.points[i])
	}
	return points
}

// each checks the given number of images of each point, on all processors, and calls
// report for each image. It returns how many images had a choice: some changes were not
// synced.
func (s *session) each(unsynced string, points []int, images int, report func(sample, error)) (choices int) {
	s.Helper()
	samples := make(chan sample)
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		folder := s.TempDir()
		group.Go(func() {
			for sample := range samples {
				report(sample, s.load.check(s.Context(), folder, sample))
			}
		})
	}
	d := newDisk(unsynced)
	acked := slices.Repeat([]int{-1}, s.load.Writers)
	for i := 0; i <= len(s.events); i++ {
		if slices.Contains(points, i) {
			for number := range images {
				rng := rand.New(rand.NewPCG(s.seed, uint64(i*images+number+1)))
				if d.isUnsure() {
					choices++
				} else if number > 0 {
					break // all images are the same
				}
				samples <- sample{i, number, d.image(number, rng), slices.Clone(acked)}
			}
		}
		if i == len(s.events) {
			break
		}
		d.take(s.events[i])
		if e := s.events[i]; e.Kind == ack && !e.IsEnd {
			var writer, number int
			if _, err := fmt.Sscanf(string(e.Data), "%d %d\n", &writer, &number); err != nil {
				s.Errorf("acknowledgement %q: %v", e.Data, err)
				continue
			}
			acked[writer] = number
		}
	}
	close(samples)
	group.Wait()
	return choices
}

// keep leaves the trace and the files of an image for a closer look.
func (s *session) keep(sample sample) {
	folder, err := os.MkdirTemp("", "powerloss-")
	if err != nil {
		s.Log(err)
		return
	}
	trace, err := os.ReadFile(s.trace)
	if err := errors.Join(err, os.WriteFile(filepath.Join(folder, "trace"), trace, 0o600), sample.image.write(folder)); err != nil {
		s.Log(err)
	}
	s.Logf("%s has the trace and the first damaged image; repeat with %s=%s/trace %s=%d %s=%s -run '^%s$'",
		folder, traceVar, folder, seedVar, s.seed, testenv.ProveVar, os.Getenv(testenv.ProveVar), s.Name())
}
