package pages

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/look"
)

// outer is the frame of a page that is about no app.
func (p *Pages) outer(r *http.Request, title string) look.Frame {
	f := look.Frame{
		Service: p.cfg.Service, Title: title, Assets: p.cfg.Prefix + "/assets", Home: p.cfg.Prefix, SignOut: p.cfg.SignOut,
	}
	for _, link := range p.cfg.Links {
		f.Links = append(f.Links, look.Link{Text: link.Text, Href: link.Href})
	}
	f.Links = append(f.Links, look.Link{Text: "Developers", Href: p.cfg.Prefix, Current: true})
	if p.cfg.Person != nil {
		f.Person = p.cfg.Person(r)
	}
	f.Notice = notices[r.URL.Query().Get("done")]
	return f
}

// frame is that of a page: one about an app has the parts of the app at its side.
func (v *visit) frame(title string) look.Frame {
	f := v.outer(v.r, title)
	if v.app.ID == "" {
		f.Trail = v.trail
		return f
	}
	f.Trail = []look.Link{{Text: "Apps", Href: v.cfg.Prefix}, {Text: v.app.Name, Href: v.cfg.Prefix + path("apps", v.app.ID)}}
	f.SideLabel = "Parts of the app"
	own := v.cfg.Prefix + path("apps", v.app.ID)
	for _, part := range parts {
		href := own + part.Href
		current := v.r.URL.Path == href || part.Href != "" && strings.HasPrefix(v.r.URL.Path, href+"/")
		f.Side = append(f.Side, look.Link{Text: part.Text, Href: href, Current: current})
		if current && part.Text != title && part.Href != "" {
			f.Trail = append(f.Trail, look.Link{Text: part.Text, Href: href})
		}
	}
	f.Trail = append(f.Trail, v.trail...)
	return f
}

// parts are the pages that an app has, below its own.
var parts = []Link{
	{"Overview", ""},
	{"Settings", "/settings"},
	{"Credentials", "/secrets"},
	{"Webhooks", "/webhooks"},
	{"App data", "/fields"},
	{"Listing", "/listing"},
	{"Extensions", "/extensions"},
	{"Functions", "/functions"},
	{"Analytics", "/analytics"},
	{"Audit log", "/audit"},
}

// notices are what pages say after something was done, by the word in the address:
// nobody else's words get there.
var notices = map[string]string{
	"app-updated":     "The app was updated.",
	"clock-moved":     "The clock was moved, and what was due has happened.",
	"delivery-queued": "It is on its way again. This page follows it.",
	"secret-ended":    "The secret was ended.",
	"test-queued":     "The test is on its way. This page follows it.",
	"webhook-deleted": "The webhook was deleted.",
	"webhook-updated": "The webhook was updated.",

	"field-declared":    "The field was declared.",
	"field-changed":     "The field was changed. Values that are there stay as they are.",
	"field-deleted":     "The field and its values were deleted.",
	"listing-saved":     "The draft was saved.",
	"listing-submitted": "The listing was submitted. A reviewer looks at it next.",
	"asset-added":       "The image was uploaded.",
	"asset-deleted":     "The image was deleted.",
	"extension-added":   "The extension was added.",
	"extension-changed": "The extension was changed.",
	"extension-deleted": "The extension was deleted.",
	"function-added":    "The function was uploaded.",
	"function-deleted":  "The function was deleted.",
}

// problems finds out whether an error is for whoever sent a form to mend: they get to
// see it with what they had entered. A missing page or permission is not.
func problems(err error) (*apierror.Error, bool) {
	e, ok := errors.AsType[*apierror.Error](err)
	mendable := []int{http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity}
	return e, ok && slices.Contains(mendable, e.Status())
}

func isStatus(err error, status int) bool {
	e, ok := errors.AsType[*apierror.Error](err)
	return ok && e.Status() == status
}
