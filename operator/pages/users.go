package pages

import (
	"net/http"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/site"
	"github.com/partnerkit/partnerkit/operator"
	"github.com/partnerkit/partnerkit/partner"
)

func userRoutes() []route {
	return []route{
		{"GET /people", (*visit).findPeople},
		{"GET /users", (*visit).findUser},
		{"GET /users/{userId}", (*visit).showUser},
		{"POST /users/{userId}/status", (*visit).setUserStatus},
		{"POST /users/{userId}/erase", (*visit).eraseUser},
	}
}

const usersTitle = "People"

// findUser leads to the page of a user, or to the search.
func (v *visit) findUser() error {
	if userID := strings.TrimSpace(v.r.URL.Query().Get("id")); userID != "" {
		return v.to("", "users", userID)
	}
	return v.to("", "people")
}

type peopleView struct {
	Query  string
	People []personRow
}

type personRow struct {
	operator.UserDetails
	Badge look.Badge
}

// findPeople finds people by their id or email address.
func (v *visit) findPeople() error {
	data := peopleView{Query: strings.TrimSpace(v.r.URL.Query().Get("query"))}
	if data.Query == "" {
		return v.show("people", usersTitle, data)
	}
	found, err := v.cfg.Operator.FindUsers(v.r.Context(), v.by, data.Query)
	if err != nil {
		return v.again(err, "people", usersTitle, data)
	}
	for _, one := range found {
		data.People = append(data.People, personRow{one, userBadges[one.Status]})
	}
	return v.show("people", usersTitle, data)
}

type userView struct {
	operator.UserDetails
	IsKnown  bool // to the host
	IsSelf   bool // operators change nothing about themselves
	Badge    look.Badge
	Statuses []choice
	Reason   reasonField
	Form     bodies.Form
}

var userBadges = map[identity.UserStatus]look.Badge{
	identity.UserActive:     {Kind: "ok", Text: "Active"},
	identity.UserRestricted: {Kind: "warn", Text: "Restricted"},
	identity.UserSuspended:  {Kind: "bad", Text: "Suspended"},
}

// userPage returns a user, with what is in a form. A user whom the host does not know can be
// erased: that completes an erasure that failed.
func (v *visit) userPage(form bodies.Form) (userView, error) {
	userID := v.r.PathValue("userId")
	v.trail = []look.Link{{Text: usersTitle, Href: v.site.Href("people")}}
	user, err := v.cfg.Operator.User(v.r.Context(), v.by, userID)
	if site.IsStatus(err, http.StatusNotFound) {
		return userView{UserDetails: operator.UserDetails{User: operator.User{ID: userID, Name: userID}}, Form: form}, nil
	}
	if err != nil {
		return userView{}, err
	}
	if user.Name == "" {
		user.Name = user.ID
	}
	view := userView{
		UserDetails: user, IsKnown: true, IsSelf: user.ID == v.by.UserID(), Badge: userBadges[user.Status], Form: form,
		Reason: reasonField{ID: "reason", Label: "Reason", Hint: "It is kept in the audit log."},
	}
	chosen := identity.UserStatus(form.Get("status"))
	if chosen != "" {
		view.Reason.Value = form.Get("reason")
	}
	for _, status := range []identity.UserStatus{identity.UserActive, identity.UserRestricted, identity.UserSuspended} {
		view.Statuses = append(view.Statuses, choice{string(status), userBadges[status].Text, status == chosen || chosen == "" && status == user.Status})
	}
	return view, nil
}

func (v *visit) showUser() error {
	data, err := v.userPage(nil)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if !data.IsKnown {
		status = http.StatusNotFound
	}
	return v.site.Show(v.w, status, "user", v.page(data.Name, data))
}

// userAgain shows the page with what went wrong.
func (v *visit) userAgain(problem error, form bodies.Form) error {
	data, err := v.userPage(form)
	if err != nil {
		return err
	}
	return v.again(problem, "user", data.Name, data)
}

func (v *visit) setUserStatus() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	userID := v.r.PathValue("userId")
	_, err = v.cfg.Operator.SetUserStatus(v.r.Context(), v.by, userID, identity.UserStatus(form.Get("status")), site.UnixLines(form.Get("reason")))
	if err != nil {
		return v.userAgain(err, form)
	}
	return v.to("user-changed", "users", userID)
}

type erasedView struct {
	UserID string
	partner.Erasure
}

// eraseUser erases a user whose id was entered once more, and reports what that did.
func (v *visit) eraseUser() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	userID := v.r.PathValue("userId")
	if strings.TrimSpace(form.Get("confirm")) != userID {
		return v.userAgain(apierror.Invalid("the id of the user must be entered to confirm the erasure"), form)
	}
	done, err := v.cfg.Operator.EraseUser(v.r.Context(), v.by, userID, site.UnixLines(form.Get("erase_reason")))
	if err != nil {
		return v.userAgain(err, form)
	}
	v.trail = []look.Link{{Text: usersTitle, Href: v.site.Href("people")}}
	return v.show("erased", "User erased", erasedView{userID, done})
}
