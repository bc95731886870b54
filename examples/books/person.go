package books

import (
	"errors"
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/text"
)

// person is a user who is signed in, with the membership in the chosen business.
type person struct {
	session identity.Session
	user    User
	place   Membership // zero when no business is chosen, or they left it
}

// personal makes a page for people who are signed in. It sends others to the sign-in page.
func (s *Site) personal(h func(w http.ResponseWriter, r *http.Request, p person) error) http.Handler {
	return s.pages.handle(func(w http.ResponseWriter, r *http.Request) error {
		p, ok, err := s.person(r)
		if err != nil {
			return err
		}
		if !ok {
			returnTo := "/"
			if r.Method == http.MethodGet || r.Method == http.MethodHead {
				returnTo = r.URL.RequestURI()
			}
			s.Host().SignIn(w, r, returnTo)
			return nil
		}
		return h(w, r, p)
	})
}

func (s *Site) person(r *http.Request) (p person, ok bool, err error) {
	p.session, ok, err = s.sessions.find(r)
	if err != nil || !ok {
		return p, false, err
	}
	ctx := r.Context()
	if p.user, err = s.books.User(ctx, p.session.UserID); err != nil {
		return p, false, err
	}
	status, err := s.books.store.UserStatus(ctx, p.user.ID)
	if err != nil {
		return p, false, err
	}
	if status == identity.UserSuspended {
		return p, false, apierror.Forbidden("This account is suspended")
	}
	p.place, err = s.books.membership(ctx, p.user.ID, p.session.BusinessID)
	if err != nil && !errors.Is(err, ErrAbsent) {
		return p, false, err
	}
	return p, true, nil
}

type businessesView struct {
	ReturnTo   string
	Businesses []businessView
}

type businessView struct {
	ID, Name          string
	Sandbox, Selected bool
}

func (s *Site) showBusinesses(w http.ResponseWriter, r *http.Request, p person) error {
	data := businessesView{ReturnTo: r.URL.Query().Get("return_to")}
	if !isOwnPath(data.ReturnTo) {
		data.ReturnTo = ""
	}
	memberships, err := s.books.Memberships(r.Context(), p.user.ID)
	if err != nil {
		return err
	}
	for _, m := range memberships {
		data.Businesses = append(data.Businesses, businessView{
			ID: m.BusinessID, Name: text.Line(m.Business), Sandbox: m.SandboxOf != "", Selected: m.BusinessID == p.session.BusinessID,
		})
	}
	return s.pages.show(w, r, http.StatusOK, "businesses", View{Title: "Businesses", Person: p.user, Path: BusinessPath, Data: data})
}

func (s *Site) chooseBusiness(w http.ResponseWriter, r *http.Request, p person) error {
	form, err := bodies.DecodeForm(r, bodies.FormLimits{})
	if err != nil {
		return err
	}
	chosen, err := s.books.membership(r.Context(), p.user.ID, form.Get("business_id"))
	if errors.Is(err, ErrAbsent) {
		return apierror.Forbidden("You are not a member of this business")
	}
	if err != nil {
		return err
	}
	if err := s.sessions.choose(r.Context(), p.session.ID, chosen.BusinessID); err != nil {
		return err
	}
	returnTo := form.Get("return_to")
	if !isOwnPath(returnTo) {
		returnTo = "/settings/apps"
	}
	http.Redirect(w, r, returnTo, http.StatusSeeOther) //nolint:gosec // isOwnPath has looked at it
	return nil
}
