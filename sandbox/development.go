package sandbox

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/partnerkit/partnerkit/keyring"
)

// developmentKey seals in development mode when no key is given. Everybody knows
// it: what it seals is not secret.
const developmentKey = "cGFydG5lcmtpdCBkZXZlbG9wbWVudCBrZXkgMDAwMDE="

// development reports whether this is development mode, which is only for a server that
// cannot be reached from other machines.
func (o options) development() (bool, error) {
	if err := o.checkAddresses(); err != nil {
		return false, err
	}
	reachable := o.reachable()
	switch {
	case o.dev == nil:
		return reachable == "", nil
	case *o.dev && reachable != "":
		return false, usage(fmt.Errorf("-dev refused: %s; development mode lets anybody who reaches the server sign in as anyone, so it needs both listeners and both public URLs on loopback and no trusted proxy", reachable))
	}
	return *o.dev, nil
}

// checkAddresses reports an address without a port, and a public URL that is not one.
func (o options) checkAddresses() error {
	for _, listener := range []struct{ flag, address string }{{"-api", o.api}, {"-app", o.app}} {
		if _, _, err := net.SplitHostPort(listener.address); err != nil {
			return notAddress(listener.flag, listener.address)
		}
	}
	for _, public := range []struct{ flag, url string }{{"-api-url", o.apiURL}, {"-app-url", o.appURL}} {
		u, err := url.Parse(public.url)
		if public.url != "" && (err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "") {
			return usage(fmt.Errorf("%s %q is not a URL like https://api.example.com", public.flag, public.url))
		}
	}
	return nil
}

// reachable returns the reason why other machines may reach the server; empty if they
// cannot.
func (o options) reachable() string {
	for _, listener := range []struct{ flag, address string }{{"-api", o.api}, {"-app", o.app}} {
		host, _, err := net.SplitHostPort(listener.address)
		if err != nil || !isLoopback(host) {
			return fmt.Sprintf("%s %s is not loopback", listener.flag, listener.address)
		}
	}
	for _, public := range []struct{ flag, url string }{{"-api-url", o.apiURL}, {"-app-url", o.appURL}} {
		if public.url == "" {
			continue // from the address
		}
		if u, err := url.Parse(public.url); err != nil || !isLoopback(u.Hostname()) {
			return fmt.Sprintf("%s %s is not loopback", public.flag, public.url)
		}
	}
	if len(o.proxies) > 0 {
		return "-trusted-proxies names a proxy"
	}
	return ""
}

// isLoopback reports whether a host name without port names this very machine.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Zone() == "" && !ip.Is4In6() && ip.IsLoopback()
}

// keyring reads -key.
func (o options) keyring(dev bool, log *slog.Logger) (*keyring.Keyring, error) {
	if o.key == "" && !dev {
		return nil, usage(errors.New("-key is required outside development mode; make one with: openssl rand -base64 32"))
	}
	if o.key == "" {
		log.Warn("no -key: secrets are encrypted with the public key of development mode")
		return keyring.Parse(developmentKey)
	}
	ring, err := keyring.Parse(o.key)
	if err != nil {
		return nil, usage(fmt.Errorf("-key: %w", err))
	}
	return ring, nil
}
