package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/header"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/internal/strictjson"
	"github.com/partnerkit/partnerkit/oauthserver/internal/clientmetadata"
	"github.com/partnerkit/partnerkit/oauthserver/internal/core"
	"github.com/partnerkit/partnerkit/oauthserver/internal/credentials"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// userCodeTries is how many user codes are tried before a collision is an internal error.
// One collision is rare already: there are 20^8 codes, and each lives ten minutes.
const userCodeTries = 5

// deviceResponse is the response of RFC 8628 section 3.2.
type deviceResponse struct {
	DeviceCode              string `json:"device_code"`
	UserCode                string `json:"user_code"`
	VerificationURI         string `json:"verification_uri"`
	VerificationURIComplete string `json:"verification_uri_complete"`
	ExpiresIn               int    `json:"expires_in"`
	Interval                int    `json:"interval"`
}

// serveDeviceAuthorize begins the device flow (RFC 8628 section 3.1). It costs 3 statements and
// one commit.
func (s *Server) serveDeviceAuthorize(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	c, err := s.begin(r, endpointDevice, readJSONOrForm)
	if err != nil {
		return err
	}
	client, err := s.authenticate(ctx, c)
	if err != nil {
		return err
	}
	if err := s.checkTarget(c); err != nil {
		return err
	}
	app, err := s.callingApp(ctx, c, client)
	if err != nil {
		return err
	}
	scopes, err := c.scopesWithin(app.Scopes, "not registered by the app: ")
	if err != nil {
		return err
	}
	if scopes.IsEmpty() {
		scopes = clientmetadata.DefaultScopes(app)
	}
	deviceCode, userCode, err := s.createDevice(ctx, c, app, scopes)
	if err != nil {
		return err
	}
	page := s.appOrigin + core.DevicePath
	forbidStoring(w)
	return apierror.WriteJSON(w, http.StatusOK, deviceResponse{
		DeviceCode:              deviceCode.Reveal(),
		UserCode:                userCode,
		VerificationURI:         page,
		VerificationURIComplete: page + "?user_code=" + url.QueryEscape(userCode),
		ExpiresIn:               int(s.cfg.Lifetimes.DeviceCode / time.Second),
		Interval:                int(s.cfg.Lifetimes.DeviceInterval / time.Second),
	})
}

// createDevice stores a new device code with a user code that is not in use.
func (s *Server) createDevice(ctx context.Context, c call, app partner.App, scopes identity.Scopes) (secret.Secret, string, error) {
	deviceCode := secret.New(secret.DeviceCode)
	device := oauthstore.DeviceCode{
		Standing: oauthstore.Standing{Owners: oauthstore.Owners{AppID: app.ID}, ClientID: app.ClientID},
		ID:       id.New(id.Device, c.now), Scopes: scopes, Status: oauthstore.DevicePending,
		CreatedAt: c.now, ExpiresAt: c.now.Add(s.cfg.Lifetimes.DeviceCode),
	}
	var err error
	for range userCodeTries {
		device.UserCode = secret.NewUserCode()
		if err = s.cfg.Store.CreateDevice(ctx, device, deviceCode.Digest()); !errors.Is(err, oauthstore.ErrTaken) {
			break
		}
	}
	if err != nil {
		return secret.Secret{}, "", apierror.Failed("create device code", err)
	}
	return deviceCode, device.UserCode, nil
}

// readJSONOrForm is the reader of an endpoint that accepts JSON and forms.
func readJSONOrForm(r *http.Request) (bodies.Form, credentials.Credentials, error) {
	if header.MediaType(r.Header) != "application/json" {
		return readForm(r)
	}
	var body struct {
		ClientID     *string      `json:"client_id"`
		ClientSecret *string      `json:"client_secret"`
		Assertion    *string      `json:"client_assertion"`
		Type         *string      `json:"client_assertion_type"`
		Scope        *string      `json:"scope"`
		Resource     jsonResource `json:"resource"`
	}
	limits := strictjson.Limits{MaxBytes: bodies.MaxForm, IgnoreUnknown: true}
	if err := strictjson.Decode(r, &body, limits); err != nil {
		return nil, credentials.ReadBasic(r), err
	}
	form := bodies.Form{}
	for name, value := range map[string]*string{
		"client_id": body.ClientID, "client_secret": body.ClientSecret, "scope": body.Scope,
		"client_assertion": body.Assertion, "client_assertion_type": body.Type,
	} {
		if value != nil {
			form[name] = []string{*value}
		}
	}
	if body.Resource != nil {
		form["resource"] = body.Resource
	}
	return form, credentials.Read(r, form), nil
}

// jsonResource is the resource member. A value that is not a string is kept as its JSON text,
// which is rejected because it is not a URI.
type jsonResource []string

// UnmarshalJSON never fails, so that the error is invalid_target.
func (j *jsonResource) UnmarshalJSON(data []byte) error {
	var text string
	switch {
	case bytes.Equal(data, []byte("null")):
		*j = nil
	case json.Unmarshal(data, &text) == nil:
		*j = jsonResource{text}
	default:
		*j = jsonResource{string(data)}
	}
	return nil
}
