// Package theme describes how a host's brand looks on the pages that partnerkit serves:
// a logo, colours, a style sheet and links. The service's name is not part of it:
// Config.Service has the name for pages and protocols alike.
package theme

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"unicode"
)

// Theme is the brand on the pages for consent, devices, connected apps and the console.
// The zero value is the default look. Values are plain data: a Theme may be shared and
// is not changed by the pages.
type Theme struct {
	// Logo is the path of an image on the app host, such as /brand/logo.svg. Pages show
	// it 28 pixels high beside the name of the service. The pages' content policy blocks
	// images of other hosts; serve the file by Config.AppRoutes.
	Logo string
	// Icon is the path of an image on the app host that browsers show beside the title of a
	// page; empty: a neutral one.
	Icon string
	// Light and Dark are the colours of the two schemes, of which the browser chooses
	// one. An empty colour keeps its default.
	Light, Dark Colors
	// StyleSheet is the path of a style sheet on the app host, such as /brand/pages.css.
	// Pages load it after their own. Its fonts and images must be on the app host too.
	StyleSheet string

	// Terms, Privacy and Support are linked at the foot of every page: an https URL or a
	// path on the app host. Support may also be a mailto: address. Empty: no link.
	Terms, Privacy, Support string

	// Links lead to the host's own pages, from the header of the pages for people who
	// are signed in: connected apps and the console.
	Links []Link
	// SwitchAccount is the path on the app host of a page where a person who is signed in
	// can sign in with another account, such as the sign-in page. The consent and device
	// pages link to it with the query parameter return_to, a path with a query on the app
	// host to which the page leads after the sign-in. Empty: there is no such link.
	SwitchAccount string
	// SignOut is the path on the app host that a form posts to in order to sign out;
	// empty: there is no such button.
	SignOut string
	// Switch is the path on the app host that a form posts to in order to choose the light
	// scheme, the dark one, or the one that the browser prefers. [ServeSwitch] serves it.
	// Empty: there is no such control, and the browser decides.
	Switch string
}

// Link leads to a page of the host: an https URL or a path on the app host.
type Link struct{ Text, Href string }

// Check returns nil for a theme that can be shown, and otherwise one error for all wrong
// fields: each is named with the reason and the cure.
func (t Theme) Check() error {
	errs := []error{
		checkPath("Theme.Logo", t.Logo, "/brand/logo.svg"),
		checkPath("Theme.Icon", t.Icon, "/brand/icon.svg"),
		checkPath("Theme.StyleSheet", t.StyleSheet, "/brand/pages.css"),
		checkPath("Theme.SignOut", t.SignOut, "/logout"),
		checkPath("Theme.Switch", t.Switch, "/theme"),
		checkPath("Theme.SwitchAccount", t.SwitchAccount, "/login"),
		checkLink("Theme.Terms", t.Terms), checkLink("Theme.Privacy", t.Privacy),
		checkSupport(t.Support),
		t.Light.check("Theme.Light", defaultLight), t.Dark.check("Theme.Dark", defaultDark),
	}
	for i, link := range t.Links {
		field := fmt.Sprintf("Theme.Links[%d]", i)
		if strings.TrimSpace(link.Text) == "" {
			errs = append(errs, fmt.Errorf("%s.Text is empty: a link without a text cannot be read; give it one", field))
		}
		if link.Href == "" {
			errs = append(errs, fmt.Errorf("%s.Href is empty: the link leads nowhere; write a path on the app host, such as /invoices", field))
		}
		errs = append(errs, checkLink(field+".Href", link.Href))
	}
	return errors.Join(errs...)
}

// checkPath holds a value to a path on the app host.
func checkPath(field, value, example string) error {
	if value == "" || isPath(value) {
		return nil
	}
	return fmt.Errorf("%s %q is not a path on the app host: pages load and post nothing elsewhere; serve it there and write its path, such as %s", field, value, example)
}

// checkLink holds a value to what a person may follow from a page.
func checkLink(field, value string) error {
	if value == "" || isPath(value) || isWebURL(value) {
		return nil
	}
	return fmt.Errorf("%s %q is not an https URL or a path on the app host: browsers warn about anything else; write it like https://example.com/terms or /terms", field, value)
}

func checkSupport(value string) error {
	if address, ok := strings.CutPrefix(value, "mailto:"); ok && strings.Contains(address, "@") && isPlain(value) {
		return nil
	}
	if checkLink("", value) == nil {
		return nil
	}
	return fmt.Errorf("Theme.Support %q is not an https URL, a path on the app host or a mailto: address; write it like https://example.com/help or mailto:help@example.com", value)
}

// isPath reports whether a browser resolves the value on the origin of its page.
func isPath(value string) bool {
	if !isPlain(value) || !strings.HasPrefix(value, "/") || strings.HasPrefix(value, "//") || strings.Contains(value, `\`) {
		return false
	}
	u, err := url.Parse(value)
	return err == nil && u.Scheme == "" && u.Host == ""
}

// isWebURL reports an https URL; http is for loopback alone.
func isWebURL(value string) bool {
	u, err := url.Parse(value)
	if err != nil || !isPlain(value) || u.Hostname() == "" || u.User != nil {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname())
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

func isPlain(value string) bool {
	return !strings.ContainsFunc(value, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == unicode.ReplacementChar })
}
