package browser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is the longest wait for a condition on a busy machine, and pause is the time
// between two checks of it.
const (
	patience = 3 * time.Minute
	pause    = 20 * time.Millisecond
)

// tab is a browser window of one user, with its own cookies.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu     sync.Mutex
	errors []string // that the console showed, dialogs among them
}

// open opens a window.
func open(t *testing.T) *tab {
	t.Helper()
	browser, err := chromium()
	if err != nil {
		t.Fatalf("start Chromium: %v", err)
	}
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx}
	messages, dialogs := chromedp.Console(ctx), chromedp.Events(ctx, page.JavascriptDialogOpening)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			b.note(m)
		}
	}()
	go func() {
		for d, err := range dialogs {
			if err != nil {
				return
			}
			b.fault("a dialog opened: " + d.Message)
			_, _ = chromedp.Call(ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
		}
	}()
	b.resize(1280)
	return b
}

// note records the warnings and errors of the browser console. The console also reports
// responses with a status of 4xx, even for the page itself. note ignores these messages:
// loads checks the status of everything that a page loads.
func (b *tab) note(m chromedp.ConsoleMessage) {
	isStatus := m.Source == "network" && strings.Contains(m.Text, "the server responded with a status of")
	if isStatus || m.Type != chromedp.ConsoleError && m.Type != chromedp.ConsoleWarning && !m.IsException() {
		return
	}
	b.fault(fmt.Sprintf("%s (%s %s)", m, m.Source, m.URL))
}

func (b *tab) fault(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.errors = append(b.errors, text)
}

// faults returns the messages of the browser console since its last call.
func (b *tab) faults() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.errors
	b.errors = nil
	return all
}

// do runs actions, and fails the test if one fails.
func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// resize gives the window a width, at a height that shows most pages.
func (b *tab) resize(width int64) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, 900))
}

// withoutScript disables the scripts of pages.
func (b *tab) withoutScript() *tab {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		b.t.Fatal(err)
	}
	return b
}

// try evaluates an expression in the page. It fails during a navigation.
func try[T any](b *tab, expression string) (value T, err error) {
	yes := true
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	result, err := chromedp.Call(ctx, runtime.Evaluate, runtime.EvaluateParams{
		Expression: "(() => {" + finders + "return " + expression + "})()", ReturnByValue: &yes, AwaitPromise: &yes,
	})
	if err != nil {
		return value, err
	}
	if e := result.ExceptionDetails; e != nil {
		return value, fmt.Errorf("%s %s", e.Text, e.Exception.Description)
	}
	if len(result.Result.Value) == 0 { // undefined
		return value, nil
	}
	return value, json.Unmarshal(result.Result.Value, &value)
}

// get is like try, for a page that does not navigate.
func get[T any](b *tab, expression string) T {
	b.t.Helper()
	value, err := try[T](b, expression)
	if err != nil {
		b.t.Fatalf("evaluate %s: %v\n%s", expression, err, b.where())
	}
	return value
}

// await waits until an expression is true.
func (b *tab) await(expression string) {
	b.t.Helper()
	var err error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(pause) {
		var ok bool
		if ok, err = try[bool](b, "!!("+expression+")"); ok {
			return
		}
	}
	b.t.Fatalf("waited in vain for %s (%v)\n%s", expression, err, b.where())
}

// where returns the address and the text of the page, for the message of a failed test.
func (b *tab) where() string {
	text, err := try[string](b, "location.href + '\\n' + document.body.innerText")
	if err != nil {
		return err.Error()
	}
	return text
}
