package oauthserver

import "net/http"

// Pages renders what a person sees. oauthserver/pages has the default ones; a
// host with a front end of its own implements the interface. The server has set
// the headers, a strict Content-Security-Policy among them, before it calls: no
// script runs, and only <style> elements with the view's Nonce apply.
type Pages interface {
	// Consent asks whether an app may connect.
	Consent(w http.ResponseWriter, r *http.Request, view ConsentView) error
	// DeviceForm asks for a user code.
	DeviceForm(w http.ResponseWriter, r *http.Request, view DeviceFormView) error
	// Done says that a device was approved or denied.
	Done(w http.ResponseWriter, r *http.Request, view DoneView) error
	// Error shows why nothing happens. The text is shown to the letter in an
	// element with role="alert".
	Error(w http.ResponseWriter, r *http.Request, view ErrorView) error
}

// ConsentView is a decision to be made: a form with the method POST to Action
// that carries the Hidden fields, one of the Businesses as business_id, and two
// submit buttons named decision, with the values allow and deny.
type ConsentView struct {
	Service    string
	Nonce      string // of <style> elements
	AppName    string
	ClientHost string // host of the client_id, for apps with a metadata document
	UserCode   string // what the device shows, for the device flow
	Scopes     []ScopeView
	Businesses []BusinessView // that can be chosen; just one in the device flow
	FixedTo    string         // business_id that cannot be changed: the device flow's
	Unreviewed bool           // the app has not completed review
	ReturnsTo  string         // host or scheme of the redirect URI; empty in the device flow
	Action     string
	Hidden     []HiddenField
}

// ScopeView is a scope in plain words.
type ScopeView struct{ Name, Description string }

// BusinessView is a business that can be chosen.
type BusinessView struct {
	ID, Name string
	Sandbox  bool
	Selected bool
}

// HiddenField is a hidden field of a form.
type HiddenField struct{ Name, Value string }

// DeviceFormView is the form that takes a user code, named user_code.
type DeviceFormView struct {
	Service  string
	Nonce    string // of <style> elements
	UserCode string // pre-filled
	Problem  string // with what was entered before
	Action   string
	Hidden   []HiddenField
}

// DoneView is the end of the device flow in the browser.
type DoneView struct {
	Service  string
	Nonce    string // of <style> elements
	AppName  string
	Business string
	Approved bool
}

// ErrorView is a refusal. The status has been written already.
type ErrorView struct {
	Service string
	Nonce   string // of <style> elements
	Status  int
	Message string
}
