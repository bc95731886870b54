package look

import (
	"fmt"
	"time"
)

// Ago returns a time as seen from now, in the largest unit that fits: "3 min ago", "in 2 h".
func Ago(at, now time.Time) string {
	text := span(now.Sub(at).Abs())
	switch {
	case text == "":
		return "now"
	case at.After(now):
		return "in " + text
	}
	return text + " ago"
}

// span returns the largest unit of a duration; empty below a second.
func span(d time.Duration) string {
	for _, unit := range []struct {
		name string
		of   time.Duration
	}{{" day", 24 * time.Hour}, {" h", time.Hour}, {" min", time.Minute}, {" s", time.Second}} {
		n := int(d / unit.of)
		switch {
		case n == 0:
			continue
		case n > 1 && unit.of == 24*time.Hour:
			return fmt.Sprintf("%d days", n)
		}
		return fmt.Sprint(n, unit.name)
	}
	return ""
}
