package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// How the flow ends without tokens.
var (
	errDenied  = errors.New("access was denied")
	errExpired = errors.New("nobody decided in time; start again for a new code")
)

// device is the response to a device authorization request (RFC 8628 section 3.2).
type device struct {
	DeviceCode              string `json:"device_code"`
	UserCode                string `json:"user_code"`
	VerificationURI         string `json:"verification_uri"`
	VerificationURIComplete string `json:"verification_uri_complete"`
	ExpiresIn               int    `json:"expires_in"`
	Interval                int    `json:"interval"`
}

const (
	defaultInterval = 5            // seconds, when the service names none (RFC 8628 section 3.2)
	slowDown        = 5            // seconds more after each slow_down (section 3.5)
	maxInterval     = 60           // seconds; a service that is away is not asked less often
	maxLifetime     = 24 * 60 * 60 // seconds; no code is worth more patience
)

func (s *service) authorizeDevice(ctx context.Context, scope string) (device, error) {
	var d device
	if err := s.post(ctx, s.DeviceEndpoint, url.Values{"scope": {scope}}, &d); err != nil {
		return d, fmt.Errorf("ask for a code: %w", err)
	}
	if d.Interval == 0 {
		d.Interval = defaultInterval
	}
	switch {
	case d.DeviceCode == "", d.UserCode == "", d.VerificationURI == "":
		return d, errors.New("ask for a code: the answer lacks device_code, user_code or verification_uri")
	case d.ExpiresIn <= 0, d.ExpiresIn > maxLifetime, d.Interval < 0, d.Interval > d.ExpiresIn:
		return d, fmt.Errorf("ask for a code: nobody can wait %d seconds between polls, %d in all", d.Interval, d.ExpiresIn)
	}
	return d, nil
}

// tokens are the tokens of an approval. A program that goes on keeps both, and stores
// them before it uses either.
type tokens struct {
	AccessToken  string `json:"access_token"`
	RefreshToken string `json:"refresh_token"`
	Scope        string `json:"scope"`
}

// poll requests the tokens, never faster than the service allows, until the user has
// decided or the code has expired.
func (s *service) poll(ctx context.Context, d device, wait func(context.Context, time.Duration) error) (tokens, error) {
	form := url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "device_code": {d.DeviceCode}}
	interval := d.Interval
	for waited := 0; waited < d.ExpiresIn; {
		if err := wait(ctx, time.Duration(interval)*time.Second); err != nil {
			return tokens{}, err
		}
		waited += interval
		var t tokens
		err := s.post(ctx, s.TokenEndpoint, form, &t)
		if err == nil {
			return t, nil
		}
		if interval, err = waitAfter(ctx, err, interval); err != nil {
			return tokens{}, err
		}
	}
	return tokens{}, errExpired
}

// waitAfter returns how many seconds to wait after a poll that gave no tokens, or why there is
// no use in waiting.
func waitAfter(ctx context.Context, err error, interval int) (int, error) {
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	refused, ok := errors.AsType[*refusal](err)
	switch {
	case !ok: // no response: poll less and less often (RFC 8628 section 3.5)
		return max(interval, min(2*interval, maxInterval)), nil
	case refused.Code == "authorization_pending":
		return interval, nil
	case refused.Code == "slow_down":
		return interval + slowDown, nil
	case refused.Code == "access_denied":
		return 0, errDenied
	case refused.Code == "expired_token":
		return 0, errExpired
	case refused.Status == http.StatusTooManyRequests, refused.Status >= 500:
		return max(interval, min(2*interval, maxInterval), int(refused.RetryAfter/time.Second)), nil
	}
	return 0, fmt.Errorf("ask for tokens: %w", err)
}
