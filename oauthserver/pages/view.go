package pages

import (
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/locale"
	"github.com/partnerkit/partnerkit/theme"
)

// Pages renders what a person sees. [New] returns the default ones; a host with a front end
// of its own implements the interface. The server has set
// the headers, a strict Content-Security-Policy among them, before it calls: no
// script runs; only <style> and <link rel="stylesheet"> elements with the view's Nonce
// apply; images and fonts come from the app host.
type Pages interface {
	// Consent asks whether an app may connect.
	Consent(w http.ResponseWriter, r *http.Request, view ConsentView) error
	// DeviceForm asks for a user code.
	DeviceForm(w http.ResponseWriter, r *http.Request, view DeviceFormView) error
	// Done shows that a device or a custom connection was approved or denied.
	Done(w http.ResponseWriter, r *http.Request, view DoneView) error
	// ConnectedApps lists the apps of a business.
	ConnectedApps(w http.ResponseWriter, r *http.Request, view ConnectedAppsView) error
	// TakeOver asks whether the person takes over a connection.
	TakeOver(w http.ResponseWriter, r *http.Request, view TakeOverView) error
	// Error shows why nothing happens. The message is shown unchanged and alone in an
	// element with role="alert", in every language.
	Error(w http.ResponseWriter, r *http.Request, view ErrorView) error
}

// Frame holds the data that every page needs.
type Frame struct {
	Service  string
	Nonce    string // of <style> and <link rel="stylesheet"> elements
	Theme    theme.Theme
	Icon     string          // path of the page's icon, unless the theme has one
	Language locale.Language // with the texts of the page; for <html lang>
	Person   string          // who is signed in, as the session says; may be empty
	// SwitchAccount is the path where the person can sign in with another account and then return to
	// this page; may be empty.
	SwitchAccount string
}

// ConsentView is a decision to be made: a form with the method POST to Action
// that carries the Hidden fields, one of the Businesses as business_id, and two
// submit buttons named decision, with the values allow and deny.
type ConsentView struct {
	Frame
	AppName    string
	Listing    AppListing // what the live listing of the app says; may be zero
	ClientHost string     // host of the client_id, for apps with a metadata document
	UserCode   string     // what the device shows, for the device flow
	Scopes     []ScopeView
	Businesses []BusinessView // that can be chosen; just one in the device flow
	// Missing are the businesses of this person that cannot be chosen.
	Missing []MissingBusiness
	// Gap is why the app cannot be connected to some of Missing although it was reviewed.
	Gap     ReviewGap
	FixedTo string // business_id that cannot be changed: the device flow's, and that of a custom connection
	// ChooseBusiness is the path where the person can sign in to another business and then return to
	// this page, in the device flow; may be empty.
	ChooseBusiness string
	Unreviewed     bool // the app has not completed review
	// ForInstallation reports that a custom connection is decided: the app will act for the
	// business and not for the person, with these Permissions, none of which the person
	// lacks. Maker is the organization that made the app. If Unreviewed, no review covers
	// what the app asks for, and the page must say so.
	ForInstallation bool
	Permissions     []ScopeView
	Maker           string
	// LocalOnly: the app has a metadata document, and all its redirect URIs lead to programs
	// on the person's computer. Any of them could be asking.
	LocalOnly bool
	ReturnsTo string // host or scheme of the redirect URI; empty in the device flow and for custom connections
	Action    string
	Hidden    []HiddenField
}

// ScopeView is a scope or a permission in plain words, in the language of the page.
type ScopeView struct{ Name, Description string }

// BusinessView is a business that can be chosen.
type BusinessView struct {
	ID, Name string
	Sandbox  bool
	Selected bool
	// IsConnected reports that the app is connected there already, and New has the scopes that it
	// does not have there yet. Of a person with many businesses only the selected one says so.
	IsConnected bool
	New         []ScopeView
}

// MissingBusiness is a business that the app cannot be connected to. Reason is
// [PermissionRequired] if the person's role there may not connect apps, and
// [ReviewRequired] if no review of the app covers the request.
type MissingBusiness struct {
	Name   string
	Reason ErrorCode
}

// HiddenField is a hidden field of a form.
type HiddenField struct{ Name, Value string }

// DeviceFormView is the form that takes a user code, named user_code.
type DeviceFormView struct {
	Frame
	UserCode string // pre-filled
	// Problem with what was entered before, and its code. The page shows the problem
	// like the message of an [ErrorView].
	Problem     string
	ProblemCode ErrorCode
	Action      string
	Hidden      []HiddenField
}

// DoneView is the end of the device flow in the browser, or of the decision about a custom
// connection.
type DoneView struct {
	Frame
	AppName         string
	Business        string
	Approved        bool
	ForInstallation bool   // a custom connection was decided
	AppsPath        string // of the page of connected apps, for custom connections; may be empty
}

// ConnectedAppsView is the apps that a business has connected. Where MayChange is true,
// each app has two forms with the method POST and the app's ClientID as client_id: to
// RevokeAction and to UninstallAction. An app that IsOrphaned has a third one: to
// TakeOverAction.
type ConnectedAppsView struct {
	Frame
	Path            string // of this page, to mark its link in the header
	Business        string // its name
	BusinessPath    string // where another one can be chosen; may be empty
	MayChange       bool
	Apps            []ConnectedApp
	ShowsUse        bool // the apps have LastUsedAt
	RevokeAction    string
	UninstallAction string
	TakeOverAction  string
	RedactHours     int // from uninstalling an app to its business.redact
	// Done is what was done just now: audited.AccessRevoked, audited.Uninstalled,
	// audited.ConnectionTakenOver or nothing.
	Done audit.Action
}

// ConnectedApp is an app that a business has connected.
type ConnectedApp struct {
	ID, ClientID, Name string
	Listing            AppListing
	OpenPath           string // the host's page for the app; may be empty
	Scopes             []ScopeView
	IsCustom           bool // it has a custom connection, whose calls have these Permissions
	Permissions        []ScopeView
	ConnectedAt        time.Time
	ConnectedBy        []string  // names; may be empty
	LastUsedAt         time.Time // zero: never
	// IsOrphaned: a person who connected the app is no longer a member of the business, and the
	// person who sees the page may take the connection over.
	IsOrphaned bool
}

// TakeOverView is a decision to be made: whether the person lets an app go on that was
// connected by people who have left the business. It is a form like that of a [ConsentView],
// without businesses.
type TakeOverView struct {
	Frame
	AppName  string
	Listing  AppListing // what the live listing of the app says; may be zero
	Business string     // its name
	Scopes   []ScopeView
	// Permissions are those of the person that calls of the app will have in the business.
	Permissions []ScopeView
	Action      string
	Hidden      []HiddenField
}

// ErrorView is a refusal. The status has been written already.
type ErrorView struct {
	Frame
	Status  int
	Code    ErrorCode // to explain the message by
	Message string
	AppName string // of the app that the page is about; empty if it is about none
	// Missing are the businesses of this person, none of which the app can be connected to.
	Missing []MissingBusiness
	// Gap is what the last review of the app does not cover; empty if that is not the reason.
	Gap ReviewGap
	// Again is a path on the app host where the person can try again, and ChooseBusiness one
	// where they can sign in to another business first; both may be empty.
	Again, ChooseBusiness string
}

// AppListing is the part of an app's listing that pages show beside its name. Every field may be
// empty.
type AppListing struct {
	IconPath   string // of an image on the app host
	Publisher  string
	TermsURL   string
	PrivacyURL string
}

// ReviewGap tells what of a request the last review of its app does not cover.
type ReviewGap struct {
	RedirectURI, Scopes bool
	// Details are the redirect URI and the scopes themselves, for members of the app's
	// organization; empty for everybody else.
	Details []string
}

// IsEmpty reports whether the review covers the request.
func (g ReviewGap) IsEmpty() bool { return !g.RedirectURI && !g.Scopes }

// ErrorCode identifies the reason of an [ErrorView], beside the message, which is for partners
// and their support. The text error.<code> of a language explains it, if there is one.
// docs/embedding.md lists the codes.
type ErrorCode string

// The codes that mean something to the default pages.
const (
	PermissionRequired ErrorCode = "permission_required"
	ReviewRequired     ErrorCode = "review_required"
	RequestExpired     ErrorCode = "request_expired"
)
