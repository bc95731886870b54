//go:build linux

package powerloss_test

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// traced are the system calls that can change a file, a folder or what a disk holds.
const traced = "open,openat,creat,write,pwrite64,writev,pwritev,pwritev2,fsync,fdatasync,sync_file_range," +
	"ftruncate,truncate,fallocate,copy_file_range,sendfile,unlink,unlinkat,link,linkat,rename,renameat,renameat2"

// straceFlags make strace print all bytes as hexadecimal numbers, with the path of each
// descriptor.
var straceFlags = []string{"-f", "-y", "-xx", "-s", "1000000", "--seccomp-bpf", "-e", "trace=" + traced, "-e", "signal=none"}

// call is a system call on one of the child's files.
type call struct {
	Kind   kind
	Name   string // base name of the file
	Offset int    // of a write; the new size of a truncation
	Data   []byte // of a write or an acknowledgement
}

type kind string

const (
	create   kind = "create"
	write    kind = "write"
	truncate kind = "truncate"
	syncFile kind = "sync"
	remove   kind = "remove"
	ack      kind = "acknowledgement"
)

// event is the beginning or the end of a call. The calls of several threads overlap.
type event struct {
	*call
	IsEnd bool
}

// watched are the files whose content matters. SQLite builds the -shm file again.
var watched = map[string]bool{databaseName: true, databaseName + "-wal": true, databaseName + "-journal": true, acksName: true, folderName: true}

const unfinished = " <unfinished ...>"

// parseTrace reads what strace has written. A call on a watched file that it does not
// understand is an error, and so is a call that failed.
func parseTrace(r io.Reader) (events []event, err error) {
	open := map[string]*call{} // by thread
	lines := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			return events, nil
		}
		if err != nil {
			return nil, err
		}
		thread, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		text = strings.TrimLeft(text, " ")
		c := open[thread]
		delete(open, thread)
		if !strings.HasPrefix(text, "<... ") { // resumed
			if c, err = parseCall(text); err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			if c != nil {
				events = append(events, event{c, false})
			}
		}
		switch {
		case c == nil:
		case strings.HasSuffix(text, unfinished):
			open[thread] = c
		default:
			if err := c.finish(text); err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			events = append(events, event{c, true})
		}
	}
}

// parseCall returns the call of a line, or nil if the line changes no watched file.
func parseCall(text string) (c *call, err error) {
	name, text, isCall := strings.Cut(text, "(")
	if !isCall || strings.HasPrefix(name, "+++") || strings.HasPrefix(name, "---") { // ends and signals
		return nil, nil
	}
	text = strings.TrimSuffix(text, unfinished)
	if at := strings.LastIndex(text, ") "); at >= 0 && strings.HasPrefix(strings.TrimLeft(text[at+1:], " "), "= ") {
		text = text[:at]
	}
	args := strings.Split(text, ", ")
	if len(args) > 1 && strings.HasPrefix(args[0], "AT_FDCWD") {
		args = args[1:]
	}
	path := strings.Trim(args[0], `"`)
	if _, ofDescriptor, ok := strings.Cut(path, "<"); ok {
		path = strings.TrimSuffix(ofDescriptor, ">")
	}
	file, err := unhex(path)
	if err != nil {
		return nil, fmt.Errorf("%s without a path: %.200s", name, text)
	}
	c = &call{Name: filepath.Base(string(file))}
	if !watched[c.Name] {
		return nil, nil
	}
	switch {
	case strings.HasPrefix(name, "open") && !strings.Contains(text, "O_CREAT") && !strings.Contains(text, "O_TRUNC"):
		return nil, nil
	case strings.HasPrefix(name, "open") && args[0][0] == '"' && !strings.Contains(text, "O_TRUNC"):
		c.Kind = create
	case name == "write" && c.Name == acksName && len(args) == 3:
		c.Kind = ack
		c.Data, err = unquote(args[1])
	case name == "pwrite64" && len(args) == 4:
		c.Kind = write
		if c.Data, err = unquote(args[1]); err == nil {
			c.Offset, err = strconv.Atoi(args[3])
		}
	case name == "ftruncate" && len(args) == 2:
		c.Kind = truncate
		c.Offset, err = strconv.Atoi(args[1])
	case name == "fsync", name == "fdatasync":
		c.Kind = syncFile
	case name == "unlink":
		c.Kind = remove
	default:
		return nil, fmt.Errorf("%s on %s is not simulated: %.200s", name, c.Name, text)
	}
	return c, err
}

// finish reads the result of the call at the end of its line.
func (c *call) finish(line string) error {
	_, result, _ := strings.Cut(line[max(0, strings.LastIndex(line, " = ")):], "= ")
	end := strings.IndexAny(result+" ", " <")
	n, err := strconv.Atoi(result[:end])
	if err != nil || n < 0 {
		return fmt.Errorf("%s of %s failed: %q", c.Kind, c.Name, result)
	}
	if c.Data != nil && n != len(c.Data) {
		return fmt.Errorf("%s of %s: %d bytes of %d", c.Kind, c.Name, n, len(c.Data))
	}
	return nil
}

// unquote decodes "\x01\x02" in quotes.
func unquote(text string) ([]byte, error) {
	if len(text) < 2 || !strings.HasSuffix(text, `"`) {
		return nil, fmt.Errorf("not a whole string: %.40s", text)
	}
	return unhex(text[1 : len(text)-1])
}

// unhex decodes \x01\x02.
func unhex(text string) ([]byte, error) {
	return hex.DecodeString(strings.ReplaceAll(text, `\x`, ""))
}

func TestParseTrace(t *testing.T) {
	t.Parallel()
	const (
		folder = `\x2f\x74\x2f\x64\x69\x73\x6b`
		file   = folder + `\x2f\x70\x6f\x77\x65\x72\x2e\x64\x62`
		wal    = file + `\x2d\x77\x61\x6c`
		acks   = folder + `\x2f\x61\x63\x6b\x6e\x6f\x77\x6c\x65\x64\x67\x65\x64`
	)
	for name, test := range map[string]struct {
		trace string
		want  []event
		fails bool
	}{
		"of one thread": {
			trace: `7 open("` + wal + `", O_RDWR|O_CREAT|O_CLOEXEC, 0600) = 11<` + wal + `>
7 openat(AT_FDCWD<` + folder + `>, "` + file + `", O_RDWR|O_CLOEXEC) = 12<` + file + `>
7 pwrite64(11<` + wal + `>, "\x00\xff", 2, 4096) = 2
7 pwrite64(12<` + folder + `\x2f\x78>, "\x00", 1, 4095) = 1
7 ftruncate(9<` + file + `>, 8192) = 0
7 fsync(13<` + folder + `>) = 0
7 unlink("` + wal + `") = 0
7 +++ exited with 0 +++
`,
			want: bothOf(
				&call{Kind: create, Name: "power.db-wal"},
				&call{Kind: write, Name: "power.db-wal", Offset: 4096, Data: []byte{0, 255}},
				&call{Kind: truncate, Name: "power.db", Offset: 8192},
				&call{Kind: syncFile, Name: "disk"},
				&call{Kind: remove, Name: "power.db-wal"},
			),
		},
		"of two threads": {
			trace: `7 fdatasync(11<` + wal + `> <unfinished ...>
8 write(5<` + acks + `>, "\x30\x20\x31\x0a", 4) = 4
7 <... fdatasync resumed>)        = 0
`,
			want: []event{
				{&call{Kind: syncFile, Name: "power.db-wal"}, false},
				{&call{Kind: ack, Name: "acknowledged", Data: []byte("0 1\n")}, false},
				{&call{Kind: ack, Name: "acknowledged", Data: []byte("0 1\n")}, true},
				{&call{Kind: syncFile, Name: "power.db-wal"}, true},
			},
		},
		"a failed sync":       {trace: "7 fsync(11<" + wal + ">) = -1 EIO (Input/output error)\n", fails: true},
		"a short write":       {trace: "7 pwrite64(11<" + wal + `>, "\x00\xff", 2, 0) = 1` + "\n", fails: true},
		"a cut string":        {trace: "7 pwrite64(11<" + wal + `>, "\x00"..., 2, 0) = 2` + "\n", fails: true},
		"an unknown call":     {trace: "7 rename(\"" + wal + "\", \"" + file + "\") = 0\n", fails: true},
		"no offset":           {trace: "7 write(11<" + wal + `>, "\x00", 1) = 1` + "\n", fails: true},
		"of other files":      {trace: "7 write(1<\\x2f\\x78>, \"\\x00\", 1) = 1\n"},
		"signals and the end": {trace: "7 --- SIGURG ---\n7 +++ exited with 0 +++\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := parseTrace(strings.NewReader(test.trace))
			if (err != nil) != test.fails {
				t.Fatalf("error %v", err)
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(event{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// bothOf is the beginning and the end of calls one after another.
func bothOf(calls ...*call) (events []event) {
	for _, c := range calls {
		events = append(events, event{c, false}, event{c, true})
	}
	return events
}
