package main

import (
	"context"
	"fmt"
	"net/http"
	"net/smtp"
	"strings"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/locale"
	"github.com/partnerkit/partnerkit/ratelimit"
	"github.com/partnerkit/partnerkit/theme"
)

// choose sets what another company would choose differently: the brand, the languages, the
// limits, who is told, and whose tokens are valid.
func (b *backend) choose(c *partnerkit.Config) {
	c.Theme = theme.Theme{Light: theme.Colors{Accent: "#0b5d3b"}, Terms: "https://office.example/terms", Support: "mailto:help@office.example"}
	c.Languages = locale.Languages{Offered: []string{"en", "de"}}
	c.Limits.PerBusiness = ratelimit.PerMinute(100)
	c.Limits.LimitsFor = func(_ context.Context, call ratelimit.Call) (exceptions ratelimit.CallLimits) {
		if call.AppID == b.largeApp {
			exceptions.PerBusiness = ratelimit.PerMinute(2000)
		}
		return exceptions
	}
	c.ForeignTokens = b.ownToken
	c.Notifier = mailer{to: "security@office.example", send: func(to, message string) error { return b.send(to, message) }}
}

// ownToken recognizes the tokens of our mobile app: "office-" and the id of a person. Yours
// are random, or signed.
func (b *backend) ownToken(r *http.Request, token string) (identity.Session, bool, error) {
	id, ok := strings.CutPrefix(token, "office-")
	if !ok {
		return identity.Session{}, false, nil
	}
	member, err := b.IsMember(r.Context(), company, id)
	return identity.Session{ID: token, UserID: id, BusinessID: company}, member, err
}

// mailer is a Notifier that sends mail about reused refresh tokens, which may be stolen.
type mailer struct {
	to   string
	send func(to, message string) error
}

// Notify implements events.Notifier.
func (m mailer) Notify(_ context.Context, n events.Notification) error {
	if n.Kind != events.NotifyReuseDetected {
		return nil
	}
	return m.send(m.to, fmt.Sprintf("To: %s\r\nSubject: %s\r\n\r\n%s\r\nApp %s, business %s, user %s.\r\n",
		m.to, n.Kind, n.Text(), n.AppID, n.BusinessID, n.UserID))
}

// sendMail hands a message to the mail server of this machine.
func sendMail(to, message string) error {
	return smtp.SendMail("localhost:25", nil, "office@office.example", []string{to}, []byte(message))
}
