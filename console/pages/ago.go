package pages

import (
	"fmt"
	"time"
)

// ago returns a time as seen from now, in the largest unit that fits: "3 minutes ago", "in 2
// hours".
func ago(at, now time.Time) string {
	distance := now.Sub(at).Abs()
	text := ""
	for _, unit := range []struct {
		name string
		of   time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second}} {
		n := int(distance / unit.of)
		if n == 0 {
			continue
		}
		if text = fmt.Sprintf("%d %ss", n, unit.name); n == 1 {
			text = "1 " + unit.name
		}
		break
	}
	switch {
	case text == "":
		return "now"
	case at.After(now):
		return "in " + text
	}
	return text + " ago"
}
