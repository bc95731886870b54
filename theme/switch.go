package theme

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
)

// The schemes that a person can choose. light and dark are also values of the cookie.
const (
	light  = "light"
	dark   = "dark"
	system = "system" // that of the browser
)

// switchCookie is the name of the cookie that keeps the scheme that a person has chosen.
const switchCookie = "theme"

// keptFor is how long a browser keeps the choice, in seconds: a year.
const keptFor = 365 * 24 * 60 * 60

// Chosen returns the scheme that the person has chosen, "light" or "dark"; empty for that of
// the browser.
func Chosen(r *http.Request) string {
	cookie, err := r.Cookie(switchCookie)
	if err != nil || cookie.Value != light && cookie.Value != dark {
		return ""
	}
	return cookie.Value
}

// ServeSwitch serves [Theme.Switch]: it reads the field theme of a form, which is light, dark
// or system, keeps it in a cookie, and leads back to the page that the field back names.
// Mount it behind the protection against forged requests that your other forms have.
func ServeSwitch(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, 8<<10)
	if err := r.ParseForm(); err != nil {
		return apierror.Invalid("the body is not a form")
	}
	cookie := &http.Cookie{Name: switchCookie, Path: "/", MaxAge: keptFor, HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteLaxMode}
	switch chosen := r.PostForm.Get("theme"); chosen {
	case light, dark:
		cookie.Value = chosen
	case system:
		cookie.MaxAge = -1
	default:
		return apierror.InvalidAt("theme", "must be system, light or dark")
	}
	http.SetCookie(w, cookie)
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, ownPath(r.PostForm.Get("back")), http.StatusSeeOther)
	return nil
}

// ownPath returns the path and query of an address on this host; / for every other address.
func ownPath(address string) string {
	u, err := url.Parse(address)
	if err != nil || !isPath(address) || strings.HasPrefix(u.Path, "//") {
		return "/"
	}
	return u.RequestURI()
}
