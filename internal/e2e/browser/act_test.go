package browser_test

import (
	"fmt"
	"strconv"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// finders find elements as users do: by their visible text.
const finders = `
const words = (e) => (e.innerText.trim() || e.querySelector("img")?.alt || "").replace(/\s+/g, " ");
const the = (what, found) => { if (found.length !== 1) throw new Error(found.length + " of " + what); return found[0]; };
const thing = (text, root = "body") => the("things that say " + text,
  [...document.querySelectorAll(root + " :is(a, button, summary)")].filter((e) => e.checkVisibility() && words(e.querySelector("h2") || e) === text));
const labelled = (text) => {
  const labels = [...document.querySelectorAll("label")].filter((l) => l.control && l.checkVisibility());
  const exact = labels.filter((l) => words(l) === text);
  return the("labels that say " + text, exact.length ? exact : labels.filter((l) => words(l).includes(text)));
};
const spot = (e) => {
  e.scrollIntoView({block: "center", behavior: "instant"});
  const box = e.getClientRects()[0], x = box.x + box.width / 2, y = box.y + box.height / 2;
  if (!e.contains(document.elementFromPoint(x, y))) throw new Error("something lies over it");
  return {x, y};
};
`

// visit opens an address and returns the status of the page that is then there.
func (b *tab) visit(address string) int {
	b.t.Helper()
	b.do(chromedp.Navigate(address))
	return b.status()
}

// status returns the HTTP status of the page.
func (b *tab) status() int {
	b.t.Helper()
	return get[int](b, "performance.getEntriesByType('navigation')[0].responseStatus")
}

// press clicks with the mouse on the element with a text. A selector distinguishes several
// elements with the same text.
func (b *tab) press(text string, within ...string) {
	b.t.Helper()
	root := "body"
	if len(within) > 0 {
		root = within[0]
	}
	b.click(fmt.Sprintf("thing(%s, %s)", quote(text), quote(root)))
}

// submit presses an element that leads to another page, and waits for that page.
func (b *tab) submit(text string, within ...string) {
	b.t.Helper()
	get[any](b, "void (window.before = true)")
	b.press(text, within...)
	b.await(`!window.before && document.readyState === "complete"`)
}

// fill types into the field with a label.
func (b *tab) fill(label, text string) {
	b.t.Helper()
	b.click(fmt.Sprintf("labelled(%s).control", quote(label)))
	get[any](b, fmt.Sprintf("labelled(%s).control.select()", quote(label)))
	if _, err := chromedp.Call(b.ctx, input.InsertText, input.InsertTextParams{Text: text}); err != nil {
		b.t.Fatal(err)
	}
	b.await(fmt.Sprintf("labelled(%s).control.value === %s", quote(label), quote(text)))
}

// choose clicks on the label of a radio button or a check box.
func (b *tab) choose(label string) {
	b.t.Helper()
	before := get[bool](b, fmt.Sprintf("labelled(%s).control.checked", quote(label)))
	b.click(fmt.Sprintf("labelled(%s)", quote(label)))
	b.await(fmt.Sprintf("labelled(%s).control.checked !== %t || labelled(%[1]s).control.type === 'radio'", quote(label), before))
}

// pick picks an option of the select with a label.
func (b *tab) pick(label, option string) {
	b.t.Helper()
	get[any](b, fmt.Sprintf(`(() => {
		const select = labelled(%s).control;
		select.value = the("options", [...select.options].filter((o) => o.text === %s)).value;
		select.dispatchEvent(new Event("change", {bubbles: true}));
	})()`, quote(label), quote(option)))
}

// click clicks where an element is, once it is there and nothing covers it.
func (b *tab) click(element string) {
	b.t.Helper()
	type point struct{ X, Y float64 }
	at, err := try[point](b, "spot("+element+")")
	for deadline := time.Now().Add(patience); err != nil; at, err = try[point](b, "spot("+element+")") {
		if time.Now().After(deadline) {
			b.t.Fatalf("click: %v\n%s", err, b.where())
		}
		time.Sleep(pause)
	}
	b.do(chromedp.MouseClickXY(at.X, at.Y))
}

// sees waits until the page shows a text.
func (b *tab) sees(text string) {
	b.t.Helper()
	b.await("words(document.body).includes(" + quote(text) + ")")
}

// alert returns the alert of the page, or "" if it has none.
func (b *tab) alert() string {
	b.t.Helper()
	return get[string](b, `[...document.querySelectorAll("[role=alert]")].map(words).join("\n")`)
}

// title returns the heading of the page.
func (b *tab) title() string {
	b.t.Helper()
	return get[string](b, `words(document.querySelector("h1"))`)
}

// signOut signs out, from the menu of the person.
func (b *tab) signOut() {
	b.t.Helper()
	b.click(`document.querySelector("button.me")`)
	b.submit("Sign out")
}

// at returns the address of the page.
func (b *tab) at() string {
	b.t.Helper()
	return get[string](b, "location.href")
}

// quote returns a JavaScript string literal.
func quote(text string) string { return strconv.QuoteToASCII(text) }
