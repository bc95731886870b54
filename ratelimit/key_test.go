package ratelimit_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/ratelimit"
)

func TestKeysAreDistinct(t *testing.T) {
	t.Parallel()
	ip := netip.MustParseAddr("192.0.2.1")
	ip4 := ip.As4()
	ip16 := ip.As16()
	keys := map[string]ratelimit.Key{
		"name":             ratelimit.NewKey("token"),
		"LOCK-04 name":     ratelimit.NewKey("revoke"),
		"empty part":       ratelimit.NewKey("token", ""),
		"two empty parts":  ratelimit.NewKey("token", "", ""),
		"a bc":             ratelimit.NewKey("token", "a", "bc"),
		"ab c":             ratelimit.NewKey("token", "ab", "c"),
		"abc":              ratelimit.NewKey("token", "abc"),
		"tokena bc":        ratelimit.NewKey("tokena", "bc"),
		"length as text":   ratelimit.NewKey("token", "a\x02bc"),
		"long":             ratelimit.NewKey("token", strings.Repeat("x", 64<<10)),
		"long, one less":   ratelimit.NewKey("token", strings.Repeat("x", 64<<10-1)),
		"address":          ratelimit.NewIPKey("token", ip),
		"address, client":  ratelimit.NewIPKey("token", ip, "a"),
		"address as text":  ratelimit.NewKey("token", ip.String()),
		"address as bytes": ratelimit.NewKey("token", string(ip4[:])),
		"mapped as bytes":  ratelimit.NewKey("token", string(ip16[:])),
		"other address":    ratelimit.NewIPKey("token", ip.Next()),
		"IPv6":             ratelimit.NewIPKey("token", netip.MustParseAddr("2001:db8::1")),
		"zero":             {},
	}
	seen := map[ratelimit.Key]string{}
	for name, key := range keys {
		if other, ok := seen[key]; ok {
			t.Errorf("%s and %s are the same key", name, other)
		}
		seen[key] = name
	}
}

// TestKeyIsStable: nodes of different versions share their counts, so neither
// keys nor phases may change (LIM-06).
func TestKeyIsStable(t *testing.T) {
	t.Parallel()
	pair := ratelimit.NewIPKey("token", netip.MustParseAddr("192.0.2.1"), "app_1")
	if got, want := pair.String(), "lsGKfNzQREl1P810w1XBrQ"; got != want {
		t.Errorf("NewIPKey = %s, want %s", got, want)
	}
	app := ratelimit.NewKey("api", "app_1", "biz_1")
	if got, want := app.String(), "uCos65oABF7xrjXu1t9yeA"; got != want {
		t.Errorf("NewKey = %s, want %s", got, want)
	}
	now := time.UnixMilli(1_900_000_000_000)
	number, ends := ratelimit.Counter{Key: app, Limit: ratelimit.PerMinute(1)}.Window(now)
	if wantNumber, wantEnds := int64(31666667), int64(1900000043138); number != wantNumber || ends != wantEnds {
		t.Errorf("Window = %d, %d; want %d, %d", number, ends, wantNumber, wantEnds)
	}
}

// TestPhases proves the middle of LIM-06: the windows of many keys begin all
// over the minute.
func TestPhases(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_900_000_000_000)
	var seconds [60]int
	for i := range 6000 {
		c := ratelimit.Counter{Key: ratelimit.NewKey("phase", string(rune(i))), Limit: ratelimit.PerMinute(1)}
		_, ends := c.Window(now)
		left := ends - now.UnixMilli()
		if left < 1 || left > 60_000 {
			t.Fatalf("key %d: %d ms left", i, left)
		}
		seconds[(left-1)/1000]++
	}
	for second, n := range seconds {
		if n < 50 || n > 170 {
			t.Errorf("%d of 6000 windows end in second %d", n, second)
		}
	}
}

func TestNetwork(t *testing.T) {
	t.Parallel()
	tests := []struct{ addr, want string }{ // OLIM-05
		{"192.0.2.1", "192.0.2.1/32"},
		{"::ffff:192.0.2.1", "192.0.2.1/32"},
		{"::ffff:192.0.2.1%eth0", "192.0.2.1/32"},
		{"64:ff9b::192.0.2.1", "192.0.2.1/32"},
		{"64:ff9b:1::192.0.2.1", "64:ff9b:1::/64"},
		{"2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"},
		{"2001:db8:1:2::", "2001:db8:1:2::/64"},
		{"fe80::1%eth0", "fe80::/64"},
		{"::1", "::/64"},
	}
	for _, tt := range tests {
		if got := ratelimit.Network(netip.MustParseAddr(tt.addr)).String(); got != tt.want {
			t.Errorf("Network(%s) = %s, want %s", tt.addr, got, tt.want)
		}
	}
	if got := ratelimit.Network(netip.Addr{}).String(); got != "0.0.0.0/32" {
		t.Errorf("Network of the invalid address = %s", got)
	}

	key := func(addr string) ratelimit.Key { return ratelimit.NewIPKey("n", netip.MustParseAddr(addr)) }
	if key("2001:db8:1:2::1") != key("2001:db8:1:2:ffff::1") {
		t.Error("two addresses of one /64 have two keys")
	}
	if key("2001:db8:1:2::1") == key("2001:db8:1:3::1") {
		t.Error("two /64 have one key")
	}
	if key("::ffff:192.0.2.1") != key("192.0.2.1") || key("::ffff:192.0.2.1") == key("::ffff:192.0.2.2") {
		t.Error("mapped addresses share or split a key")
	}
}
