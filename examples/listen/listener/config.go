package listener

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Config of a [Listener]. UserID and one of AppID and ClientID are required; the
// zero value of everything else is its default.
type Config struct {
	// API is the URL of the API host; empty means http://localhost:8080. The server
	// must be in development mode.
	API string
	// UserID is a developer of the app: a member of its organization.
	UserID string
	// AppID or ClientID names the app. Exactly one of them is set.
	AppID, ClientID string
	// Events to listen for; none means all that there are.
	Events []string
	// Forward is the URL to which deliveries are forwarded, such as
	// http://127.0.0.1:4242/hook. The program there gives the response to the service, so
	// that a failure is tried again later. Empty: each gets 204.
	Forward string
	// Logger hears what cannot be a [Delivery]; nil discards.
	Logger *slog.Logger
}

func (c Config) withDefaults() (Config, error) {
	if c.API == "" {
		c.API = "http://localhost:8080"
	}
	c.API = strings.TrimSuffix(c.API, "/")
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if err := checkURL(c.API); err != nil {
		return c, fmt.Errorf("listener: Config.API %w", err)
	}
	switch {
	case c.UserID == "":
		return c, errors.New("listener: Config.UserID is empty: it takes a developer of the app")
	case (c.AppID == "") == (c.ClientID == ""):
		return c, errors.New("listener: exactly one of Config.AppID and Config.ClientID must be set")
	case c.Forward == "":
		return c, nil
	}
	if err := checkURL(c.Forward); err != nil {
		return c, fmt.Errorf("listener: Config.Forward %w", err)
	}
	return c, nil
}

func checkURL(text string) error {
	if u, err := url.Parse(text); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errors.New("must be an http or https URL")
	}
	return nil
}

// callTimeout is how long one call may take, to the service or to Forward. It is what
// the service gives its receivers.
const callTimeout = 10 * time.Second

// newClient follows no redirect, as the service does not, and adds nothing to what it
// is given.
func newClient() *http.Client {
	return &http.Client{
		Timeout:       callTimeout,
		Transport:     &http.Transport{DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
