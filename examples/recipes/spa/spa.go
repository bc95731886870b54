// Package spa lets a single-page application call the API host with the session cookie of the
// people who use it.
package spa

import (
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit"
)

// Allow lets pages of the app host and of these origins call the API host with the cookie, and no
// others: Config.SessionOrigins.
func Allow(c *partnerkit.Config, origins ...string) {
	c.SessionOrigins = append([]string{c.AppURL}, origins...)
}

// Cookie is a session cookie that browsers send to both hosts: api.example.com and
// app.example.com have the parent domain example.com. No script reads it, and pages of other
// sites do not send it with their requests.
func Cookie(token, parentDomain string, life time.Duration) *http.Cookie {
	return &http.Cookie{
		Name: "__Secure-session", Value: token, Domain: parentDomain, Path: "/", MaxAge: int(life.Seconds()),
		Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
}

// Script is what a page runs. The browser adds the cookie.
const Script = `const response = await fetch("https://api.example.com/invoices", {
  method: "POST", credentials: "include",
  headers: {"Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID()},
  body: JSON.stringify({total: 1200}),
});`
