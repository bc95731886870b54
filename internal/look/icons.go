package look

import "html/template"

// icons are drawn on a square of 16 by 16, in lines. The names are those of what they stand for.
var icons = map[string]string{
	"apps":      `<rect x="2.5" y="2.5" width="4.5" height="4.5" rx="1"/><rect x="9" y="2.5" width="4.5" height="4.5" rx="1"/><rect x="2.5" y="9" width="4.5" height="4.5" rx="1"/><rect x="9" y="9" width="4.5" height="4.5" rx="1"/>`,
	"arrow":     `<path d="M3 8h10M9 4l4 4-4 4"/>`,
	"bolt":      `<path d="M9 1.5 3.5 9H8l-1 5.5L12.5 7H8z"/>`,
	"building":  `<path d="M3.5 14V2.5h6V14M9.5 6.5h3V14M2 14h12M5.5 5.5h2M5.5 8.5h2M5.5 11.5h2"/>`,
	"chart":     `<path d="M2 13.5h12M4 13V8.5M8 13V3M12 13V6"/>`,
	"check":     `<path d="m3 8.5 3.5 3.5L13 4.5"/>`,
	"clock":     `<circle cx="8" cy="8" r="6"/><path d="M8 4.5V8l2.5 1.5"/>`,
	"close":     `<path d="m4 4 8 8M12 4l-8 8"/>`,
	"code":      `<path d="m5 4.5-3.5 3.5L5 11.5M11 4.5 14.5 8 11 11.5M9 3 7 13"/>`,
	"data":      `<ellipse cx="8" cy="4" rx="5" ry="2"/><path d="M3 4v8c0 1.1 2.2 2 5 2s5-.9 5-2V4M3 8c0 1.1 2.2 2 5 2s5-.9 5-2"/>`,
	"down":      `<path d="m4 6 4 4 4-4"/>`,
	"event":     `<path d="M1.5 8h3l2-5 3 10 2-5h3"/>`,
	"extension": `<path d="M9.5 2.5h4v4M13.5 2.5 8 8M11.5 9v4.5h-9v-9H7"/>`,
	"file":      `<path d="M4 1.5h5L12.5 5v9.5H4zM9 1.5V5h3.5"/>`,
	"function":  `<path d="M11.5 2.5c-2 0-2.6 1-3 3l-1.2 5c-.4 2-1 3-2.8 3M5 6.5h6"/>`,
	"gauge":     `<path d="M2.5 12a6 6 0 1 1 11 0M8 10l3-3.5"/>`,
	"globe":     `<circle cx="8" cy="8" r="6"/><path d="M2 8h12M8 2c2 1.8 2.8 3.8 2.8 6S10 12.2 8 14c-2-1.8-2.8-3.8-2.8-6S6 3.8 8 2z"/>`,
	"home":      `<path d="M2.5 7.5 8 2.5l5.5 5M4 6.5v7h8v-7"/>`,
	"hook":      `<circle cx="8" cy="4" r="2"/><circle cx="4" cy="12" r="2"/><circle cx="12" cy="12" r="2"/><path d="m7 5.8-2.1 4.4M9 5.8l2.1 4.4M6 12h4"/>`,
	"key":       `<circle cx="5.5" cy="10.5" r="3"/><path d="m7.7 8.3 5.8-5.8M11 5l2 2"/>`,
	"list":      `<path d="M2.5 4h.5M6 4h7.5M2.5 8h.5M6 8h7.5M2.5 12h.5M6 12h7.5"/>`,
	"menu":      `<path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11"/>`,
	"meter":     `<path d="M2.5 3.5h11v9h-11zM5 10V8M8 10V6M11 10V7"/>`,
	"people":    `<circle cx="6" cy="5.5" r="2.5"/><path d="M1.5 13.5C1.5 10.7 3.5 9 6 9s4.5 1.7 4.5 4.5M10.5 3.2a2.5 2.5 0 0 1 0 4.6M12 9.5c1.6.6 2.5 2 2.5 4"/>`,
	"plus":      `<path d="M8 3v10M3 8h10"/>`,
	"right":     `<path d="m6 4 4 4-4 4"/>`,
	"search":    `<circle cx="7" cy="7" r="4.5"/><path d="M10.5 10.5 14 14"/>`,
	"settings":  `<path d="M2 4.5h7M12 4.5h2M2 11.5h2M7 11.5h7"/><circle cx="10.5" cy="4.5" r="1.5"/><circle cx="5.5" cy="11.5" r="1.5"/>`,
	"shield":    `<path d="m8 1.5 5 2v4c0 3.3-2.2 5.6-5 7-2.8-1.4-5-3.7-5-7v-4zM5.8 8l1.6 1.6 3-3.1"/>`,
	"shop":      `<path d="M2.5 6.5h11l-1-4h-9zM3.5 6.5v7h9v-7M6.5 13.5V10h3v3.5"/>`,
	"warning":   `<path d="M8 2l6.5 11.5h-13zM8 6.5v3M8 11.6v.1"/>`,
}

// drawn returns an icon for a page; nothing for a name that has none. What it stands for is
// said beside it.
func drawn(name string) template.HTML {
	shape, ok := icons[name]
	if !ok {
		return ""
	}
	return template.HTML(`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true">` + shape + `</svg>`) //nolint:gosec // drawings of ours
}
