package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// environment is the environment of the program. Tests set a wait that moves the service's
// clock.
type environment struct {
	getenv         func(string) string
	stdout, stderr io.Writer
	transport      http.RoundTripper
	wait           func(ctx context.Context, d time.Duration) error
}

// run is the whole program.
func run(ctx context.Context, args []string, w environment) error {
	o, err := parseOptions(args, w.getenv, w.stderr)
	if err != nil {
		return err
	}
	s, err := discover(ctx, o, w.transport)
	if err != nil {
		return err
	}
	d, err := s.authorizeDevice(ctx, o.scope)
	if err != nil {
		return err
	}
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(w.stdout, format+"\n", args...) }
	say("Open %s", printable(d.VerificationURI))
	say("and enter the code %s", printable(d.UserCode))
	if d.VerificationURIComplete != "" {
		say("or open %s", printable(d.VerificationURIComplete))
	}
	say("Waiting, for at most %d minutes ...", (d.ExpiresIn+59)/60)

	tokens, err := s.poll(ctx, d, w.wait)
	if err != nil {
		return err
	}
	say("Connected, with the scopes %s.", printable(tokens.Scope))
	called := s.greet(ctx, tokens.AccessToken, say)
	// Revoke the tokens even if the call failed or the user interrupted the program:
	// the program does not store them, so they should not stay valid.
	if err := s.revoke(context.WithoutCancel(ctx), tokens.RefreshToken); err != nil {
		return errors.Join(called, err)
	}
	say("Gave the tokens back.")
	return called
}
