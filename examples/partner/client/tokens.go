package client

import (
	"errors"
	"time"

	"golang.org/x/oauth2"
)

// Tokens are the tokens of one business.
type Tokens struct {
	Access    string    `json:"access_token"`
	Refresh   string    `json:"refresh_token"`
	Scope     string    `json:"scope"`
	ExpiresAt time.Time `json:"expires_at"` // the access token, by the clock of this machine
}

// String keeps tokens out of logs.
func (Tokens) String() string { return "tokens" }

// newTokens counts the lifetime from when the tokens were asked for, which cannot
// be later than when they were made.
func newTokens(t *oauth2.Token, asked time.Time) (Tokens, error) {
	if t.AccessToken == "" || t.RefreshToken == "" || t.ExpiresIn <= 0 || t.Type() != "Bearer" {
		return Tokens{}, errors.New("the token endpoint's answer is not what it should be")
	}
	scope, _ := t.Extra("scope").(string)
	return Tokens{Access: t.AccessToken, Refresh: t.RefreshToken, Scope: scope, ExpiresAt: asked.Add(time.Duration(t.ExpiresIn) * time.Second)}, nil
}

// Store keeps the tokens of one business.
type Store interface {
	// Load returns them; false when there are none.
	Load() (Tokens, bool, error)
	// Save replaces them, both at once; when it returns nil, they survive a crash.
	Save(t Tokens) error
	// Delete removes the tokens. It is not an error if there are none.
	Delete() error
}
