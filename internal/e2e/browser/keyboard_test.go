package browser_test

import (
	"strings"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// strike presses a key, as often as asked.
func (b *tab) strike(key string, code int64, times int) {
	b.t.Helper()
	down := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeRawKeyDown, Key: key, Code: key, WindowsVirtualKeyCode: code}
	if key == "Enter" {
		down.Type, down.Text = input.DispatchKeyEventTypeKeyDown, "\r"
	}
	for range times {
		if _, err := chromedp.Call(b.ctx, input.DispatchKeyEvent, down); err != nil {
			b.t.Fatal(err)
		}
	}
}

const tabKey, enterKey = 9, 13

// watchFocus records the elements that get the focus, and those whose focus cannot be seen. It
// starts before the first element of the page. Of a group of radio buttons Tab reaches one.
const watchFocus = `(() => {
	const name = (e) => e.outerHTML.replace(/\s+/g, " ").slice(0, 120);
	const group = (e) => e.type === "radio" && e.name ? document.querySelector("input[type=radio][name=" + CSS.escape(e.name) + "]") : e;
	const shown = (e) => {
		const style = getComputedStyle(e), box = e.getBoundingClientRect();
		return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 && box.width > 0 && box.right > 0 && box.bottom > 0;
	};
	const controls = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")].filter(
		(e) => e.checkVisibility() && !e.matches(":disabled") && e.type !== "hidden" && e.closest("details:not([open])") === (e.matches("summary") ? e.closest("details:not([open])") : null) && e.tabIndex >= 0);
	window.walk = {left: new Set(controls.map(group)), unseen: [], first: null, live: [...document.querySelectorAll("[data-live]")].map((e) => [e, e.dataset.live])};
	for (const [e] of walk.live) e.removeAttribute("data-live"); // it stays as it is during the walk
	walk.listen = (event) => {
		const e = event.target;
		if (walk.left.size === 0) return; // after the last control Tab begins again
		walk.first ??= e;
		walk.left.delete(group(e));
		if (!shown(e)) walk.unseen.push(name(e));
	};
	walk.name = name;
	document.addEventListener("focusin", walk.listen);
	document.documentElement.tabIndex = -1; // Tab goes on from here
	document.documentElement.focus({preventScroll: true});
	document.documentElement.blur();
	document.documentElement.removeAttribute("tabindex");
	walk.unseen = []; walk.first = null;
	return controls.length + 7 * document.querySelectorAll("input[type^=date], input[type=time]").length + document.querySelectorAll("pre, table, main").length;
})()`

// isWalkable checks that Tab reaches every control of the page, that the focus can be seen on
// each, and that the link at the beginning skips the navigation.
func (b *tab) isWalkable(name string) {
	b.t.Helper()
	if get[bool](b, `!!document.querySelector("iframe")`) {
		return // Tab goes on inside of the app's page
	}
	// As if the window were in front of those of the other tests.
	if _, err := chromedp.Call(b.ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}); err != nil {
		b.t.Fatal(err)
	}
	most := get[int](b, watchFocus)
	for sent := 0; sent < most && get[int](b, "walk.left.size") > 0; sent += 10 {
		b.strike("Tab", tabKey, 10)
	}
	for _, control := range get[[]string](b, "[...walk.left].map(walk.name)") {
		b.t.Errorf("%s: Tab does not reach %s", name, control)
	}
	for _, control := range get[[]string](b, "[...new Set(walk.unseen)]") {
		b.t.Errorf("%s: the focus cannot be seen on %s", name, control)
	}
	skip := get[string](b, `walk.first?.className ?? ""`)
	get[any](b, `(() => { document.removeEventListener("focusin", walk.listen); for (const [e, from] of walk.live) e.dataset.live = from; })()`)
	if !get[bool](b, `!!document.querySelector(".skip")`) {
		return
	}
	if !strings.Contains(skip, "skip") {
		b.t.Errorf("%s: Tab begins with %q and not with the link that skips the navigation", name, skip)
	}
	before := b.at()
	get[any](b, `document.querySelector(".skip").focus()`)
	b.strike("Enter", enterKey, 1)
	b.await(`location.hash === "#main"`)
	b.strike("Tab", tabKey, 1)
	const isPast = `!document.activeElement.closest(".top, .side, .skip") || !document.querySelector("main :is(a, button, input, select, textarea, summary)")`
	if !get[bool](b, isPast) {
		b.t.Errorf("%s: after the link that skips the navigation, Tab leads to %s", name, get[string](b, "document.activeElement.outerHTML.slice(0, 120)"))
	}
	get[any](b, "history.back()") // a page that shows a secret must not be left
	b.await("location.href === " + quote(before))
}
