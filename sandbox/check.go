package sandbox

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"
)

// Settings are flags of the sandbox that flags of the host may depend on.
type Settings struct {
	APIHost, AppHost string // the names of the two hosts, without ports
	Database         string // -db
}

// maxRefreshRetry is the longest -refresh-retry.
const maxRefreshRetry = 24 * time.Hour

// check reports what is wrong with the flags that [options.development] has not looked at,
// before anything is opened.
func (p Program) check(o options) error {
	s := Settings{Database: o.db}
	for _, host := range []struct {
		flag, address, url string
		name               *string
	}{{"-api", o.api, o.apiURL, &s.APIHost}, {"-app", o.app, o.appURL, &s.AppHost}} {
		var err error
		if *host.name, err = publicHost(host.flag, host.address, host.url); err != nil {
			return usage(err)
		}
	}
	if _, _, err := net.SplitHostPort(o.metrics); err != nil && o.metrics != "" {
		return notAddress("-metrics", o.metrics)
	}
	if o.apiURL != "" && normalOrigin(o.apiURL) == normalOrigin(o.appURL) {
		return usage(fmt.Errorf("-api-url and -app-url are both %s: a browser must tell the two hosts apart", o.apiURL))
	}
	if o.refreshRetry < 0 || o.refreshRetry > maxRefreshRetry {
		return usage(fmt.Errorf("-refresh-retry %v is not between 0 and 24h", o.refreshRetry))
	}
	if err := p.checkDatabase(o.db); err != nil {
		return err
	}
	if p.Check == nil {
		return nil
	}
	if err := p.Check(s); err != nil {
		return usage(err)
	}
	return nil
}

// publicHost returns the host name under which an address is reached.
func publicHost(flag, address, public string) (string, error) {
	if public == "" {
		host, _, err := net.SplitHostPort(address)
		if err == nil && (host == "" || net.ParseIP(host).IsUnspecified()) {
			err = fmt.Errorf("%s listens on every address, so its public address is unknown; set it with %s-url", flag, flag)
		}
		return host, err
	}
	u, err := url.Parse(public)
	switch {
	case err != nil:
	case u.User != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "":
		err = errors.New("is not an origin like https://api.example.com")
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		err = errors.New("must be https, or http on loopback")
	}
	if err != nil {
		return "", fmt.Errorf("%s-url %q %w", flag, public, err)
	}
	return u.Hostname(), nil
}
