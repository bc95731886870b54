package theme

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Colors are the colours of a scheme, each as # and three or six hexadecimal digits. They
// become the CSS custom properties --paper, --card, --on-accent and so on, which a style
// sheet of the host can use too. Text must stay readable: [Theme.Check] refuses colours
// whose contrast is too low.
type Colors struct {
	Paper, Card, Sunk              string // behind the page, behind its cards, behind code
	Ink, Quiet                     string // of text, and of text beside it
	Line, Edge                     string // between things, and around inputs and buttons
	Accent, OnAccent, AccentPaper  string // of links and the main button, of the text on it, behind what is current
	OK, OKPaper, Warn, WarnPaper   string // of what went well, of warnings, and behind them
	Bad, BadPaper, Info, InfoPaper string // of errors, of notes, and behind them
}

// The colours of the default look, as style.css of internal/look has them.
var (
	defaultLight = Colors{
		Paper: "#f6f8f7", Card: "#fff", Sunk: "#eff2f1", Ink: "#16212a", Quiet: "#51606b", Line: "#dfe5e3", Edge: "#7b8a92",
		Accent: "#0b6652", OnAccent: "#fff", AccentPaper: "#e2f2ed",
		OK: "#0a5a3d", OKPaper: "#dff3e9", Warn: "#744600", WarnPaper: "#fdf0d3",
		Bad: "#971b1b", BadPaper: "#fde8e7", Info: "#1a4789", InfoPaper: "#e4eefb",
	}
	defaultDark = Colors{
		Paper: "#0d1215", Card: "#151c20", Sunk: "#1d262b", Ink: "#e7edef", Quiet: "#a0b0b8", Line: "#28343b", Edge: "#74868f",
		Accent: "#67d5b7", OnAccent: "#05231b", AccentPaper: "#12352c",
		OK: "#7be0b3", OKPaper: "#12382a", Warn: "#f3c877", WarnPaper: "#35290f",
		Bad: "#ffb0aa", BadPaper: "#411c1b", Info: "#a8cbff", InfoPaper: "#182d4c",
	}
)

// Defaults returns the colours of the default look in the two schemes.
func Defaults() (light, dark Colors) { return defaultLight, defaultDark }

// color is one of a scheme's, with the names of its field and its custom property.
type color struct{ field, property, value string }

func (c Colors) all() []color {
	return []color{
		{"Paper", "--paper", c.Paper}, {"Card", "--card", c.Card}, {"Sunk", "--sunk", c.Sunk},
		{"Ink", "--ink", c.Ink}, {"Quiet", "--quiet", c.Quiet}, {"Line", "--line", c.Line}, {"Edge", "--edge", c.Edge},
		{"Accent", "--accent", c.Accent}, {"OnAccent", "--on-accent", c.OnAccent}, {"AccentPaper", "--accent-paper", c.AccentPaper},
		{"OK", "--ok", c.OK}, {"OKPaper", "--ok-paper", c.OKPaper}, {"Warn", "--warn", c.Warn}, {"WarnPaper", "--warn-paper", c.WarnPaper},
		{"Bad", "--bad", c.Bad}, {"BadPaper", "--bad-paper", c.BadPaper}, {"Info", "--info", c.Info}, {"InfoPaper", "--info-paper", c.InfoPaper},
	}
}

// Least contrasts by WCAG 2.2, 1.4.3 and 1.4.11.
const (
	textContrast = 4.5
	edgeContrast = 3
)

// readable are the colours of text, with what they stand on somewhere.
var readable = []struct {
	front string
	backs []string
	least float64
}{
	{"Ink", []string{"Paper", "Card", "Sunk", "OKPaper", "WarnPaper", "InfoPaper"}, textContrast},
	{"Quiet", []string{"Paper", "Card", "Sunk"}, textContrast},
	{"Accent", []string{"Paper", "Card", "AccentPaper"}, textContrast},
	{"OnAccent", []string{"Accent"}, textContrast},
	{"OK", []string{"OKPaper"}, textContrast},
	{"Warn", []string{"WarnPaper"}, textContrast},
	{"Bad", []string{"BadPaper", "Card"}, textContrast},
	{"Info", []string{"InfoPaper"}, textContrast},
	{"Edge", []string{"Card"}, edgeContrast},
}

// check returns an error for every colour that is none, and for every pair that cannot be
// read. Pairs of defaults are not checked again.
func (c Colors) check(scheme string, defaults Colors) error {
	var errs []error
	own, values := map[string]bool{}, map[string]string{}
	for _, d := range defaults.all() {
		values[d.field] = d.value
	}
	for _, one := range c.all() {
		if one.value == "" {
			continue
		}
		if _, ok := luminance(one.value); !ok {
			errs = append(errs, fmt.Errorf("%s.%s %q is not a colour in hexadecimal digits; write it like #0b6652 or #fff", scheme, one.field, one.value))
			continue
		}
		own[one.field], values[one.field] = true, one.value
	}
	for _, pair := range readable {
		for _, back := range pair.backs {
			got := contrast(values[pair.front], values[back])
			if (own[pair.front] || own[back]) && got < pair.least {
				errs = append(errs, fmt.Errorf("%s.%s %s on %s %s has a contrast of %.1f, but at least %.1f is required; make one of the two darker or lighter",
					scheme, pair.front, values[pair.front], back, values[back], got, pair.least))
			}
		}
	}
	return errors.Join(errs...)
}

// luminance returns the relative luminance of a colour by WCAG 2.2. It returns false for a
// value that is not a colour in hexadecimal digits.
func luminance(value string) (float64, bool) {
	digits, ok := strings.CutPrefix(value, "#")
	if len(digits) == 3 {
		digits = string([]byte{digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]})
	}
	n, err := strconv.ParseUint(digits, 16, 32)
	if !ok || len(digits) != 6 || err != nil {
		return 0, false
	}
	channel := func(shift uint) float64 {
		v := float64(n>>shift&0xff) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*channel(16) + 0.7152*channel(8) + 0.0722*channel(0), true
}

func contrast(a, b string) float64 {
	x, _ := luminance(a)
	y, _ := luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// CSS sets the custom properties of the theme's colours; empty when it has none. Values
// that are not colours are left out, so that nothing else gets into a style sheet.
func (t Theme) CSS() string { return t.Light.rules(light, dark) + t.Dark.rules(dark, light) }

// rules returns the style rules of a scheme: for browsers that prefer it where the person has
// not chosen the other one, and for people who have chosen it. Empty without colours.
func (c Colors) rules(scheme, other string) string {
	var b strings.Builder
	for _, one := range c.all() {
		if _, ok := luminance(one.value); ok {
			fmt.Fprintf(&b, " %s: %s;", one.property, one.value)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "@media (prefers-color-scheme: " + scheme + ") { :root:where(:not([data-scheme=" + other + "])) {" + b.String() + " } }\n" +
		":root:where([data-scheme=" + scheme + "]) {" + b.String() + " }\n"
}
