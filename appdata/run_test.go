package appdata_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/events/eventstore"
	"github.com/partnerkit/partnerkit/internal/lifetimes"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/partnertest"
	"github.com/partnerkit/partnerkit/storage"
)

// APD-08, INST-05: values outlive the installation, are deleted with business.redact and
// cannot be read afterwards.
func TestRedaction(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	p, other := k.connected(), k.connected()
	for _, who := range []connected{p, other} {
		who.declare(who.app, `{"resourceType":"invoice","key":"note","type":"TEXT"}`)
		who.put(on("inv_1", "note", `"a"`)).values()
	}
	redacted := func() int {
		k.OAuth.Tidy(t.Context())
		_, err := k.Store.NumberEvents(t.Context(), "biz_1")
		k.Must(err)
		found, err := k.Store.Events(t.Context(), eventstore.Query{BusinessID: "biz_1", AppID: p.app.ID, AppTypes: []string{events.BusinessRedact}, Limit: 10})
		k.Must(err)
		return len(found)
	}
	// Removed, and back in time.
	k.Must(k.OAuth.Uninstall(t.Context(), p.app.ID, "biz_1", partnertest.User))
	k.Clock.Advance(lifetimes.RedactDelay - time.Hour)
	back := connected{k, p.app, k.Connect(p.app, "biz_1", allScopes)}
	back.list("resourceId=inv_1").shows(`inv_1 note "a"`)
	k.Clock.Advance(2 * time.Hour)
	if n := redacted(); n != 0 {
		t.Errorf("%d notices", n)
	}
	back.list("resourceId=inv_1").shows(`inv_1 note "a"`)
	// Removed for good, and back too late.
	k.Must(k.OAuth.RevokeAccess(t.Context(), p.app.ID, "biz_1", partnertest.User))
	k.Clock.Advance(lifetimes.RedactDelay)
	if n := redacted(); n != 1 {
		t.Errorf("%d notices", n)
	}
	late := connected{k, p.app, k.Connect(p.app, "biz_1", allScopes)}
	late.list("resourceId=inv_1").shows()
	late.put(on("inv_1", "note", `"b"`)).shows(`inv_1 note "b"`)
	again := connected{k, other.app, k.Connect(other.app, "biz_1", allScopes)} // its token has expired, and was purged
	again.list("resourceId=inv_1").shows(`inv_1 note "a"`)
}

// Ended values are deleted once an hour, in batches. An error is logged, and the next
// hour's run tries again.
func TestRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		text := &strings.Builder{}
		k := newAPI(t, func(c *appdata.Config) { c.Logger = slog.New(slog.NewTextHandler(text, nil)) })
		p := k.connected()
		field := p.declare(p.app, `{"resourceType":"invoice","key":"note","type":"TEXT"}`)
		p.declare(p.app, `{"resourceType":"invoice","key":"stays","type":"TEXT"}`)
		p.put(on("inv_1", "stays", `"a"`)).values()
		for i := range 17 { // 425 values, more than two batches
			values := make([]string, appdata.MaxValues)
			for j := range values {
				values[j] = on(fmt.Sprintf("inv_%d_%d", i, j), "note", `"a"`)
			}
			p.put(values...).values()
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- k.data.Run(ctx) }()
		left := func() int {
			synctest.Wait()
			var n int
			k.Must(storage.One(context.WithoutCancel(t.Context()), k.Store, "SELECT COUNT(*) FROM partnerkit_app_data_value", nil, &n))
			return n
		}
		if n := left(); n != 426 {
			t.Errorf("%d left of what is there", n)
		}
		k.Must(k.data.DeleteField(t.Context(), p.app.ID, field.ID))
		k.Clock.Advance(59 * time.Minute)
		if n := left(); n != 426 {
			t.Errorf("%d left within the hour", n)
		}
		k.Store.Tap.Arm(testdb.FaultError, 2)
		k.Clock.Advance(time.Minute)
		if n := left(); n != 426 || strings.Count(text.String(), "appdata: purge failed") != 1 {
			t.Errorf("%d left after a fault, log %s", n, text)
		}
		k.Store.Tap.Reset()
		k.Clock.Advance(time.Hour)
		if n := left(); n != 1 {
			t.Errorf("%d left an hour later", n)
		}
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}
