package browser_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// widths are the window widths of a phone, a tablet and a desktop computer.
var widths = []int64{360, 800, 1280}

// axe is axe-core, which npm installs.
var axe = sync.OnceValues(func() (string, error) {
	text, err := os.ReadFile(filepath.Join("node_modules", "axe-core", "axe.min.js"))
	return string(text), err
})

func needAxe(t *testing.T) {
	t.Helper()
	_, err := axe()
	lacking(t, "needs axe-core: run npm ci in e2e/browser", err)
}

// inspect checks the shown page against the guarantees of every page: everything it
// needs loads, no element is wider than the window at any width, no word is broken and no control
// is smaller than 24 pixels there, the browser console stays
// empty, axe finds nothing serious in the light and the dark theme, and the keyboard alone is
// enough to use it.
func (b *tab) inspect(name string) {
	b.t.Helper()
	b.loads(name)
	b.leads(name)
	for _, width := range widths {
		b.resize(width)
		b.fits(name, width)
		b.isWhole(name, width)
		b.picture(name, width)
	}
	for _, scheme := range []string{"dark", "light"} {
		b.scheme(scheme)
		if scheme == "dark" {
			for _, width := range widths {
				if os.Getenv("PARTNERKIT_SCREENSHOTS") != "" {
					b.resize(width)
					b.picture(name+"-dark", width)
				}
			}
		}
		b.isAccessible(name, scheme)
	}
	b.isWalkable(name)
	for _, fault := range b.faults() {
		b.t.Errorf("%s: the console says: %s", name, fault)
	}
}

// loads reports the resources of the page that failed to load. It ignores the icon that
// browsers request by themselves.
func (b *tab) loads(name string) {
	b.t.Helper()
	missing := get[[]string](b, `performance.getEntriesByType("resource").filter((r) => r.responseStatus >= 400 && !r.name.endsWith("/favicon.ico")).map((r) => r.name)
		.concat([...document.images].filter((i) => i.complete && !i.naturalWidth).map((i) => i.src), document.styleSheets.length ? [] : ["a style sheet"])`)
	for _, one := range missing {
		b.t.Errorf("%s: %s did not load", name, one)
	}
}

// leads reports a place that the trail of a page names twice.
func (b *tab) leads(name string) {
	b.t.Helper()
	trail := get[[]string](b, `[...document.querySelectorAll(".trail a")].map((a) => a.href)`)
	if unique := slices.Compact(slices.Clone(trail)); len(unique) != len(trail) {
		b.t.Errorf("%s: the trail is %v", name, trail)
	}
}

// fits reports the elements that are wider than the window.
func (b *tab) fits(name string, width int64) {
	b.t.Helper()
	wide := get[[]string](b, `(() => {
		const root = document.documentElement;
		if (root.scrollWidth <= root.clientWidth) return [];
		return ["the page"].concat([...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > root.clientWidth).map((e) => e.outerHTML.slice(0, 120)));
	})()`)
	if len(wide) > 0 {
		b.t.Errorf("%s: %d px are too narrow for:\n%s", name, width, strings.Join(wide, "\n"))
	}
}

// wholeness finds words that go on in another line, elements that are wider than their cards, and controls that are hard to hit. URLs, secrets and names
// of people and businesses may break, and links in a sentence are as high as it.
const wholeness = `(() => {
	const broken = [], small = [], name = (e) => e.outerHTML.replace(/\s+/g, " ").slice(0, 120);
	const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT), range = document.createRange();
	for (let text; text = texts.nextNode();) {
		const e = text.parentElement;
		if (!e.checkVisibility() || text.data.includes("://") || e.closest("pre, script, h1, .secret, .long, .name, .unseen, .choice, .trail, td[data-label=Business], .card-menu, .written")) continue;
		for (const {0: word, index} of text.data.matchAll(/[^\s\/?&=–—-]+/g)) {
			range.setStart(text, index);
			range.setEnd(text, index + word.length);
			const lines = new Set([...range.getClientRects()].filter((r) => r.width > 0).map((r) => Math.round(r.top)));
			if (lines.size > 1) broken.push(word + " in " + name(e));
		}
	}
	for (const e of document.querySelectorAll("a[href], button, input, select, textarea, summary")) {
		const box = (e.matches("[type=checkbox], [type=radio]") && e.closest("label") || e).getBoundingClientRect();
		const isText = e.matches(":is(p, li, dd, .hint, .note, .trail, .problem) a") || e.matches(".copier, .skip");
		if (!e.checkVisibility() || e.type === "hidden" || isText || e.closest(".unseen, .languages") || box.width === 0) continue;
		if (box.height < 23.9 || box.width < 23.9) small.push(Math.round(box.width) + " × " + Math.round(box.height) + ": " + name(e));
	}
	const wide = [...document.querySelectorAll(".card table, .card > *")].filter((e) => e.checkVisibility() && !e.closest(".unseen") && e.getBoundingClientRect().right > e.closest(".card").getBoundingClientRect().right + 1).map(name);
	return {broken, small, wide};
})()`

// isWhole reports broken words, small controls and what is cut by its card.
func (b *tab) isWhole(name string, width int64) {
	b.t.Helper()
	found := get[struct{ Broken, Small, Wide []string }](b, wholeness)
	if len(found.Broken) > 0 {
		b.t.Errorf("%s: at %d px %d words are broken:\n%s", name, width, len(found.Broken), strings.Join(found.Broken, "\n"))
	}
	if len(found.Wide) > 0 {
		b.t.Errorf("%s: at %d px %d elements are wider than their cards:\n%s", name, width, len(found.Wide), strings.Join(found.Wide, "\n"))
	}
	if len(found.Small) > 0 {
		b.t.Errorf("%s: at %d px %d controls are small:\n%s", name, width, len(found.Small), strings.Join(found.Small, "\n"))
	}
}

func (b *tab) scheme(value string) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: value}},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.await(fmt.Sprintf("matchMedia('(prefers-color-scheme: %s)').matches", value))
}

// isAccessible runs axe on the page. A theme changes colors only, so the dark one is checked
// by the rules about them.
func (b *tab) isAccessible(name, scheme string) {
	b.t.Helper()
	script, err := axe()
	if err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if !get[bool](b, "!!window.axe") {
		if _, err := chromedp.Call(ctx, runtime.Evaluate, runtime.EvaluateParams{Expression: script}); err != nil {
			b.t.Fatal(err)
		}
	}
	rules := ""
	if scheme == "dark" {
		rules = `runOnly: ["color-contrast", "link-in-text-block"], `
	}
	found := get[[]string](b, `axe.run(document, {`+rules+`resultTypes: ["violations"], iframes: false}).then((r) => r.violations.flatMap(
		(v) => ["serious", "critical"].includes(v.impact) ? v.nodes.map((n) => v.id + " (" + v.impact + "): " + n.html + "\n" + n.failureSummary) : []))`)
	for _, violation := range found {
		b.t.Errorf("%s, %s: axe: %s", name, scheme, violation)
	}
}

// picture writes a screenshot of the page if PARTNERKIT_SCREENSHOTS is set.
func (b *tab) picture(name string, width int64) {
	b.t.Helper()
	folder := os.Getenv("PARTNERKIT_SCREENSHOTS")
	if folder == "" {
		return
	}
	b.shoot(filepath.Join(folder, fmt.Sprintf("%s-%d.png", name, width)))
}

// shoot writes the whole page to a file.
func (b *tab) shoot(file string) {
	b.t.Helper()
	get[any](b, "scrollTo(0, 0)")
	b.capture(file, "document.documentElement.scrollHeight")
}

// snap writes the visible part of the page to a file.
func (b *tab) snap(file string) {
	b.t.Helper()
	b.capture(file, "innerHeight")
}

func (b *tab) capture(file, height string) {
	b.t.Helper()
	size := get[struct{ W, H float64 }](b, "({W: document.documentElement.clientWidth, H: "+height+"})")
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	yes := true
	shot, err := chromedp.Call(ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{
		CaptureBeyondViewport: &yes, Clip: &page.Viewport{Width: size.W, Height: size.H, Scale: 1},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(file, shot.Data, 0o600); err != nil {
		b.t.Fatal(err)
	}
}
