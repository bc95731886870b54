package client

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"time"

	"golang.org/x/oauth2"
)

// Attempt to connect a business. Only the browser that began it may come back with it; see
// [App.Seal].
type Attempt struct {
	URL      string // where to send the browser
	State    string
	verifier string
}

// Begin starts an attempt, with a state and a verifier of its own.
func (a *App) Begin() Attempt {
	t := Attempt{State: rand.Text(), verifier: oauth2.GenerateVerifier()}
	t.URL = a.config().AuthCodeURL(t.State, oauth2.S256ChallengeOption(t.verifier))
	return t
}

// sealedAttempt is what a cookie has of an attempt. The state is not in it: it comes back with
// the browser, and only the right one opens the seal.
type sealedAttempt struct {
	Verifier string `json:"verifier"`
	Until    int64  `json:"until"` // Unix seconds
}

// ErrAttempt means that an attempt is over, or that this app has not sealed it under this state.
var ErrAttempt = errors.New("this attempt is over; begin again")

// Seal encrypts an attempt for a cookie, so that it needs no memory here: anybody may begin
// as many attempts as they like. The key follows from the client secret, so every process of
// the app can open the attempt, also after a restart.
func (a *App) Seal(t Attempt, until time.Time) (string, error) {
	aead, err := a.attemptKey()
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(sealedAttempt{t.verifier, until.Unix()})
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(aead.Seal(nil, nil, text, []byte(t.State))), nil
}

// Open returns the attempt with a state that [App.Seal] has sealed, until its time is over.
func (a *App) Open(state, sealed string, now time.Time) (Attempt, error) {
	aead, err := a.attemptKey()
	if err != nil {
		return Attempt{}, err
	}
	text, err := base64.RawURLEncoding.Strict().DecodeString(sealed)
	if err != nil {
		return Attempt{}, ErrAttempt
	}
	if text, err = aead.Open(nil, nil, text, []byte(state)); err != nil {
		return Attempt{}, ErrAttempt
	}
	var s sealedAttempt
	if err := json.Unmarshal(text, &s); err != nil || now.Unix() >= s.Until {
		return Attempt{}, ErrAttempt
	}
	return Attempt{State: state, verifier: s.Verifier}, nil
}

// attemptKey is a key for attempts and nothing else.
func (a *App) attemptKey() (cipher.AEAD, error) {
	if a.ClientSecret == "" {
		return nil, errors.New("an app without a client secret has no key for attempts")
	}
	key, err := hkdf.Key(sha256.New, []byte(a.ClientSecret), nil, "attempts to connect a business", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}
