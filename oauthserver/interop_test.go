package oauthserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/oauth2"

	"github.com/partnerkit/partnerkit/internal/lifetimes"
)

// overHTTP puts the API host behind a real listener and returns a client's
// configuration for it.
func (k *apiHarness) overHTTP(clientID, clientSecret string) *oauth2.Config {
	server := httptest.NewServer(k.API)
	k.Cleanup(server.Close)
	return &oauth2.Config{
		ClientID: clientID, ClientSecret: clientSecret, RedirectURL: apiRedirect, Scopes: apiScopes().Names(),
		Endpoint: oauth2.Endpoint{
			AuthURL: appOrigin + "/oauth/authorize", TokenURL: server.URL + "/oauth/token", DeviceAuthURL: server.URL + "/oauth/device/authorize",
		},
	}
}

// TOK-01: x/oauth2 finds its way in every style, by trying if it must, with PKCE
// and for refreshing.
func TestXOAuth2Code(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		clientID, secret string
		style            oauth2.AuthStyle
	}{
		"confidential, found by trying": {confidentialID, apiSecret, oauth2.AuthStyleAutoDetect},
		"confidential, header":          {confidentialID, apiSecret, oauth2.AuthStyleInHeader},
		"confidential, form":            {confidentialID, apiSecret, oauth2.AuthStyleInParams},
		"public, found by trying":       {publicID, "", oauth2.AuthStyleAutoDetect},
		"public, form":                  {publicID, "", oauth2.AuthStyleInParams},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newAPIHarness(t)
			config := k.overHTTP(test.clientID, test.secret)
			config.Endpoint.AuthStyle = test.style
			verifier := oauth2.GenerateVerifier()
			token, err := config.Exchange(t.Context(), k.code(test.clientID, oauth2.S256ChallengeFromVerifier(verifier)), oauth2.VerifierOption(verifier))
			if err != nil {
				t.Fatal(err)
			}
			if token.Type() != "Bearer" || token.ExpiresIn != 3600 || token.Extra("scope") != apiScopes().String() || !k.isLive(token.AccessToken) {
				t.Errorf("token %+v", token)
			}
			old := *token
			token.Expiry = token.Expiry.Add(-2 * lifetimes.AccessToken)
			next, err := config.TokenSource(t.Context(), token).Token()
			if err != nil || next.RefreshToken == old.RefreshToken || k.isLive(old.AccessToken) || !k.isLive(next.AccessToken) {
				t.Fatalf("refresh: %v", err)
			}
			_, err = config.TokenSource(t.Context(), &oauth2.Token{RefreshToken: old.RefreshToken}).Token()
			if failed, ok := errors.AsType[*oauth2.RetrieveError](err); !ok || failed.ErrorCode != "invalid_grant" || failed.ErrorDescription != "refresh token reuse detected" {
				t.Errorf("reuse: %v", err)
			}
		})
	}
}

// DEV-01, DEV-04: the device flow as x/oauth2 does it, pending at first.
func TestXOAuth2Device(t *testing.T) {
	t.Parallel()
	for clientID, clientSecret := range map[string]string{confidentialID: apiSecret, publicID: ""} {
		k := newAPIHarness(t)
		config := k.overHTTP(clientID, clientSecret)
		var options []oauth2.AuthCodeOption
		if clientSecret != "" { // it sends no secret of its own accord
			options = append(options, oauth2.SetAuthURLParam("client_secret", clientSecret))
		}
		device, err := config.DeviceAuth(t.Context(), options...)
		if err != nil {
			t.Fatal(err)
		}
		if device.Interval != 5 || !strings.HasSuffix(device.VerificationURIComplete, device.UserCode) {
			t.Errorf("device %+v", device)
		}
		device.Interval = 1 // real seconds
		// The first poll is pending; the person decides while the device waits.
		waiting := context.WithValue(t.Context(), oauth2.HTTPClient, &http.Client{Transport: afterPoll(func() { k.approveDevice(device.UserCode) })})
		token, err := config.DeviceAccessToken(waiting, device)
		if err != nil || !k.isLive(token.AccessToken) || token.RefreshToken == "" {
			t.Errorf("%s: %v", clientID, err)
		}
	}
}

// afterPoll calls a function once, after the first response that says pending.
func afterPoll(decide func()) http.RoundTripper {
	decided := false
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		response, err := http.DefaultTransport.RoundTrip(r)
		if err != nil || decided || response.StatusCode != http.StatusBadRequest {
			return response, err
		}
		body, err := io.ReadAll(response.Body)
		response.Body = io.NopCloser(strings.NewReader(string(body)))
		if strings.Contains(string(body), "authorization_pending") {
			decided = true
			decide()
		}
		return response, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// META-01, OERR-03: HEAD, and a body that is too long, over a real connection.
func TestOverRealHTTP(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	server := httptest.NewServer(k.API)
	t.Cleanup(server.Close)
	head, err := http.Head(server.URL + "/.well-known/oauth-authorization-server")
	k.Must(err)
	defer head.Body.Close()
	if body, _ := io.ReadAll(head.Body); head.StatusCode != http.StatusOK || len(body) != 0 || head.ContentLength <= 0 {
		t.Errorf("HEAD: %d, %d bytes", head.StatusCode, len(body))
	}
	large, err := http.Post(server.URL+"/oauth/token", "application/x-www-form-urlencoded", io.LimitReader(endless{}, 100<<10))
	k.Must(err)
	defer large.Body.Close()
	var body map[string]any
	k.Must(json.NewDecoder(large.Body).Decode(&body))
	if large.StatusCode != http.StatusBadRequest || body["error"] != "invalid_request" {
		t.Errorf("100 KiB: %d %v", large.StatusCode, body)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
