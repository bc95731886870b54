package pages

import (
	"strconv"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/look"
)

func tokenRoutes() []route {
	return []route{
		{"GET", "/tokens", (*visit).showTokens},
		{"POST", "/tokens", (*visit).createToken},
		{"POST", "/tokens/{tokenId}/revoke", (*visit).revokeToken},
	}
}

const tokensTitle = "Console tokens"

var tokenFields = formFields{{Name: "name", Label: "Name"}, organizationField, {Name: "expires_in_days", Member: "expiresInDays", Label: "Valid for"}}

type tokensView struct {
	Organizations []console.Organization
	Tokens        []tokenRow
	Form          filled
}

type tokenRow struct {
	consolestore.Token
	Organization string
	By           look.Named // who created it
	IsExpired    bool
}

// tokens lists those of all organizations of the person.
func (v *visit) tokens(form filled) (tokensView, error) {
	view := tokensView{Organizations: v.by.Organizations(), Form: form}
	now, names := v.cfg.Clock.Now(), map[string]string{v.by.UserID(): v.by.Name()}
	for _, o := range view.Organizations {
		all, err := v.cfg.Console.Tokens(v.r.Context(), v.by, o.ID)
		if err != nil {
			return tokensView{}, err
		}
		for _, token := range all {
			name, err := v.userName(names, token.UserID)
			if err != nil {
				return tokensView{}, err
			}
			view.Tokens = append(view.Tokens, tokenRow{token, o.Name, look.Named{ID: token.UserID, Name: name}, !now.Before(token.ExpiresAt)})
		}
	}
	v.trail = []look.Link{{Text: "Apps", Href: v.cfg.Prefix}}
	return view, nil
}

func (v *visit) showTokens() error {
	data, err := v.tokens(filled{Form: bodies.Form{"expires_in_days": {"90"}}})
	if err != nil {
		return err
	}
	return v.show("tokens", tokensTitle, data)
}

// createToken creates a console token and shows it, this once.
func (v *visit) createToken() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	days := new(int) // a text that is not a number is out of bounds
	*days, _ = strconv.Atoi(strings.TrimSpace(form.Get("expires_in_days")))
	text, token, problem := v.cfg.Console.CreateToken(v.r.Context(), v.by, console.NewToken{
		Name: form.Get("name"), OrganizationID: form.Get("organization_id"), ExpiresInDays: days,
	})
	if problem != nil {
		data, err := v.tokens(v.mend(problem, form, tokenFields))
		if err != nil {
			return err
		}
		return v.again(problem, "tokens", tokensTitle, data)
	}
	v.trail = []look.Link{{Text: "Apps", Href: v.cfg.Prefix}, {Text: tokensTitle, Href: v.cfg.Prefix + path("tokens")}}
	return v.show("token_created", "New console token", createdTokenView{text, token.Name, v.organization(token.OrganizationID), token.ExpiresAt})
}

type createdTokenView struct {
	Token, Name, Organization string
	ExpiresAt                 time.Time
}

func (v *visit) revokeToken() error {
	if err := v.cfg.Console.RevokeToken(v.r.Context(), v.by, v.r.PathValue("tokenId")); err != nil {
		return err
	}
	return v.to(path("tokens"), "token-revoked")
}

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
