//go:build linux

package crash_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/proof"
	"github.com/partnerkit/partnerkit/internal/testenv"
)

// A disk fills up under load. Writes are rejected in the error format of their host,
// earlier writes can be read, and the service recovers without a restart when there is
// space again. No acknowledged operation is lost, before, during or after.
func TestFullDisk(t *testing.T) {
	besideOthers(t)
	p := proof.Begin(t, "Full disk under load, SQLite", "refused writes")
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=64m"); err != nil {
		t.Skipf("needs the right to mount a small tmpfs: %v", err)
	}
	w := newFixture(t, p, 1)
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	w.pace = 20 * time.Millisecond
	w.flags = append(w.flags, "-db", filepath.Join(disk, "full.db"))
	w.start(0)
	w.begin()
	before := 0
	for range testenv.Rounds(2, 10) {
		time.Sleep(500 * time.Millisecond)
		w.mayFault.Store(true)
		ballast := filepath.Join(disk, "ballast")
		fill(t, ballast)
		w.checkFull()
		before = int(w.faults.Load())
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		w.recover()
		w.check() // first waits for the responses to calls made on the full disk
		w.mayFault.Store(false)
		if w.Failed() {
			t.Fatal(w.logTail())
		}
	}
	w.end(false)
	p.Tried(before)
	p.Notef("%d acknowledged acts around them, none lost", w.total())
}

// fill takes all the space that is left.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
}

// checkFull waits until writes are rejected, and then reads. The client checks the format
// of the errors.
func (w *fixture) checkFull() {
	w.Helper()
	c := w.client("full", nil)
	f := w.feeds[0]
	for _, path := range []string{"/invoices", "/dev/sessions", "/oauth/device/authorize"} {
		for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
			write := call{method: "POST", path: path}
			switch path {
			case "/invoices":
				write.token, write.json = f.token, w.asks("full", f.business, "invoice.created", 0).body()
			case "/dev/sessions":
				write.json = map[string]string{"userId": theUser, "businessId": f.business}
			default:
				c.move() // 30 a minute from one address
				write.as, write.form = w.devices, url.Values{}
			}
			a := c.try(write)
			if a.Status >= 500 {
				break
			}
			if time.Now().After(deadline) {
				w.Fatalf("%s on a full disk: %v", path, a)
			}
		}
	}
	for _, path := range []string{"/invoices", "/profile", "/customers"} {
		if a := c.try(call{method: "GET", path: path, token: f.token}); a.Status != http.StatusOK {
			w.violation("%s on a full disk: %v", path, a)
		}
	}
	a := c.try(call{method: "POST", path: "/oauth/introspect", as: f.app, form: url.Values{"token": {f.token}}})
	if !strings.Contains(a.Body, `"active":true`) {
		w.violation("introspection on a full disk: %v", a)
	}
}
