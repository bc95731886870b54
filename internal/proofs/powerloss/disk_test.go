//go:build linux

package powerloss_test

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// sector is the number of bytes that a disk writes whole or not at all.
const sector = 512

// disk is the state of a folder that a power loss can leave.
type disk struct {
	unsynced string // the name whose syncs are ignored, for a control
	names    map[string]*entry
	syncs    map[*call]func() // ends a sync that has begun
}

// entry is one name of the folder. The name can lead to any of its versions after a power
// loss; nil means no file. Programs see the last version.
type entry struct {
	versions []*file
	dropped  int // versions that a sync of the folder has made impossible
}

func (e *entry) last() *file { return e.versions[len(e.versions)-1] }

// file is the synced content of a file, and the changes since the sync.
type file struct {
	synced  []byte
	pending []*change
}

// change is a write or a truncation.
type change struct {
	call    *call
	isEnded bool
}

func newDisk(unsynced string) *disk {
	return &disk{unsynced: unsynced, names: map[string]*entry{}, syncs: map[*call]func(){}}
}

func (d *disk) entry(name string) *entry {
	if d.names[name] == nil {
		d.names[name] = &entry{versions: []*file{nil}}
	}
	return d.names[name]
}

// take notes an event. A change can be on the disk as soon as its call begins; a sync
// covers the changes that ended before the sync began, once the sync has ended.
func (d *disk) take(e event) {
	switch e.Kind {
	case create:
		if name := d.entry(e.Name); e.IsEnd && name.last() == nil {
			name.versions = append(name.versions, &file{})
		}
	case remove:
		if name := d.entry(e.Name); !e.IsEnd && name.last() != nil {
			name.versions = append(name.versions, nil)
		}
	case write, truncate:
		f := d.entry(e.Name).last()
		if !e.IsEnd {
			f.pending = append(f.pending, &change{call: e.call})
			return
		}
		for _, c := range f.pending {
			c.isEnded = c.isEnded || c.call == e.call
		}
	case syncFile:
		switch {
		case e.Name == d.unsynced:
		case !e.IsEnd && e.Name == folderName:
			d.syncs[e.call] = d.syncFolder()
		case !e.IsEnd:
			d.syncs[e.call] = d.entry(e.Name).last().sync()
		default:
			d.syncs[e.call]()
			delete(d.syncs, e.call)
		}
	}
}

// syncFolder begins a sync of the names and returns its end.
func (d *disk) syncFolder() func() {
	drop := map[*entry]int{}
	for _, name := range d.names {
		drop[name] = name.dropped + len(name.versions) - 1
	}
	return func() {
		for name, n := range drop {
			more := max(0, n-name.dropped)
			name.versions = name.versions[more:]
			name.dropped += more
		}
	}
}

// sync begins a sync of the file and returns its end.
func (f *file) sync() func() {
	covered := map[*change]bool{}
	for _, c := range f.pending {
		covered[c] = c.isEnded
	}
	return func() {
		f.pending = slices.DeleteFunc(f.pending, func(c *change) bool {
			if covered[c] {
				f.synced = c.apply(f.synced)
			}
			return covered[c]
		})
	}
}

func (c *change) apply(data []byte) []byte {
	if c.call.Kind == truncate {
		return resize(data, c.call.Offset)
	}
	data = resize(data, max(len(data), c.call.Offset+len(c.call.Data)))
	copy(data[c.call.Offset:], c.call.Data)
	return data
}

// tear applies some sectors of a write.
func (c *change) tear(data []byte, rng *rand.Rand) []byte {
	if c.call.Kind == truncate {
		return data
	}
	from, to := c.call.Offset, c.call.Offset+len(c.call.Data)
	if rng.IntN(2) == 0 {
		data = resize(data, max(len(data), to)) // the length is there before the data
	}
	for from < to {
		end := min(to, (from/sector+1)*sector)
		if rng.IntN(2) == 0 {
			data = resize(data, max(len(data), end))
			copy(data[from:end], c.call.Data[from-c.call.Offset:])
		}
		from = end
	}
	return data
}

// extend applies the length of a write without its data.
func (c *change) extend(data []byte) []byte {
	return resize(data, max(len(data), c.call.Offset+len(c.call.Data)))
}

func resize(data []byte, size int) []byte {
	if size <= len(data) {
		return data[:size]
	}
	return append(data, make([]byte, size-len(data))...)
}

// image is the content of the files after a power loss.
type image map[string][]byte

// image returns one possible image. Number 0 has nothing that was not synced, number 1
// has everything, and the others have what rng decides.
func (d *disk) image(number int, rng *rand.Rand) image {
	found := image{}
	for _, name := range []string{databaseName, databaseName + "-wal", databaseName + "-journal"} { // in one order for rng
		versions := d.entry(name).versions
		f := versions[0]
		switch number {
		case 0:
		case 1:
			f = versions[len(versions)-1]
		default:
			f = versions[rng.IntN(len(versions))]
		}
		if f != nil {
			found[name] = f.image(number, rng)
		}
	}
	return found
}

func (f *file) image(number int, rng *rand.Rand) []byte {
	data := slices.Clone(f.synced)
	likely := []float64{0.1, 0.5, 0.9}[rng.IntN(3)]
	for _, c := range f.pending {
		switch {
		case number == 0:
		case number == 1 || rng.Float64() < likely:
			data = c.apply(data)
		default:
			switch rng.IntN(4) {
			case 0:
				data = c.tear(data, rng)
			case 1:
				if c.call.Kind == write {
					data = c.extend(data)
				}
			}
		}
	}
	return data
}

// isUnsure reports whether more than one image is possible.
func (d *disk) isUnsure() bool {
	for _, name := range d.names {
		if len(name.versions) > 1 || name.last() != nil && len(name.last().pending) > 0 {
			return true
		}
	}
	return false
}

// Synced changes are in all images, others in some. A sync covers no write that ended
// after the sync began.
func TestDisk(t *testing.T) {
	t.Parallel()
	const wal = databaseName + "-wal"
	early := &call{Kind: write, Name: wal, Data: bytes.Repeat([]byte{1}, sector)}
	late := &call{Kind: write, Name: wal, Offset: sector, Data: bytes.Repeat([]byte{2}, 2*sector)}
	sync := &call{Kind: syncFile, Name: wal}
	d := newDisk("")
	for _, e := range slices.Concat(
		bothOf(&call{Kind: create, Name: wal}, &call{Kind: syncFile, Name: folderName}, early),
		[]event{{late, false}, {sync, false}, {late, true}, {sync, true}},
	) {
		d.take(e)
	}
	found := map[string]int{}
	rng := rand.New(rand.NewPCG(1, 2))
	for number := range 200 {
		data := d.image(number, rng)[wal]
		shown := ""
		for at := range slices.Chunk(data, sector) {
			shown += strconv.Itoa(int(at[0]))
		}
		found[shown]++
		if want := []string{"1", "122"}; number < 2 && shown != want[number] {
			t.Errorf("image %d is %s, want %s", number, shown, want[number])
		}
	}
	got := slices.Sorted(maps.Keys(found))
	if want := []string{"1", "100", "102", "12", "120", "122"}; !slices.Equal(got, want) {
		t.Errorf("images %v, want %v", got, want)
	}
	for _, e := range bothOf(&call{Kind: remove, Name: wal}) {
		d.take(e)
	}
	for number, want := range []bool{true, false} {
		if _, got := d.image(number, rng)[wal]; got != want {
			t.Errorf("removed, image %d: the file is there: %v", number, got)
		}
	}
	for _, e := range bothOf(&call{Kind: syncFile, Name: folderName}) {
		d.take(e)
	}
	if d.isUnsure() || len(d.image(0, rng)) != 0 {
		t.Error("the file is there after a sync of the folder without it")
	}
}
