package pages

import (
	"time"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/look"
)

func registrationRoutes() []route {
	return []route{
		{"GET", "/registration", (*visit).showRegistration},
		{"POST", "/registration", (*visit).issueRegistrationToken},
	}
}

const registrationTitle = "Registration tokens"

type registrationView struct {
	Organizations []console.Organization
	Entries       []auditRow
	Pager         look.Pager
	Form          filled
}

// registration lists the registration tokens of the person's organizations.
func (v *visit) registration(form filled) (registrationView, error) {
	after := v.r.URL.Query().Get("after")
	page, err := v.cfg.Console.OrganizationAudit(v.r.Context(), v.by, console.Page{After: after})
	if err != nil {
		return registrationView{}, err
	}
	entries, err := v.auditRows(page.Items)
	if err != nil {
		return registrationView{}, err
	}
	for i := range entries {
		entries[i].Target = v.organization(entries[i].Target)
	}
	v.trail = []look.Link{{Text: "Apps", Href: v.cfg.Prefix}}
	return registrationView{v.by.Organizations(), entries, v.pager("/registration", after, page.NextCursor), form}, nil
}

func (v *visit) showRegistration() error {
	data, err := v.registration(filled{})
	if err != nil {
		return err
	}
	return v.show("registration", registrationTitle, data)
}

// issueRegistrationToken makes a token and shows it, this once.
func (v *visit) issueRegistrationToken() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	token, expiresAt, problem := v.cfg.Console.IssueRegistrationToken(v.r.Context(), v.by, form.Get("organization_id"))
	if problem != nil {
		data, err := v.registration(v.mark(problem, form, formFields{organizationField}))
		if err != nil {
			return err
		}
		return v.again(problem, "registration", registrationTitle, data)
	}
	v.trail = []look.Link{{Text: "Apps", Href: v.cfg.Prefix}, {Text: registrationTitle, Href: v.cfg.Prefix + path("registration")}}
	return v.show("registration_issued", "Registration token", issuedView{token, expiresAt})
}

type issuedView struct {
	Token     string
	ExpiresAt time.Time
}
