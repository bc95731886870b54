package browser_test

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// ctx ends with the test binary, and with it the browser and its folder.
var ctx, stop = context.WithCancel(context.Background())

func TestMain(m *testing.M) {
	code := m.Run()
	stop()
	if browser, err := chromium(); err == nil && browser != nil {
		chromedp.FromContext(browser).Allocator.Wait()
	}
	os.Exit(code)
}

// chromium is the browser that all tests share. The first test that needs it starts it.
var chromium = sync.OnceValues(func() (context.Context, error) {
	path, err := chromiumPath()
	if err != nil || ctx.Err() != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-domain-reliability", true),
		// Only loopback addresses: no name resolves to another address.
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"),
	)
	allocator, _ := chromedp.NewExecAllocator(ctx, options...)
	browser, _ := chromedp.NewContext(allocator)
	return browser, chromedp.Do(browser)
})

// chromiumPath prefers the headless shell, which is Chromium's engine without its windows.
// With it these tests take a third less processor time.
func chromiumPath() (path string, err error) {
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err = exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", err
}

// lacking skips a test that lacks something, or fails it in CI.
func lacking(t *testing.T, what string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s, and in CI no test is skipped: %v", what, err)
	}
	t.Skipf("%s: %v", what, err)
}
