package operator

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/jsonapi"
	"github.com/partnerkit/partnerkit/internal/text"
)

// maxFound is how many users or organizations a search finds.
const maxFound = 50

// FindUsers finds users by their id, or by part of it or of the email address if the Host is a
// [Finder]. Its error is one of apierror for a query that makes no sense.
func (o *Operator) FindUsers(ctx context.Context, _ Actor, query string) ([]UserDetails, error) {
	query = strings.TrimSpace(query)
	switch {
	case query == "":
		return nil, apierror.InvalidAt("query", "is required")
	case !text.IsStorable(query):
		return nil, apierror.InvalidAt("query", "must be UTF-8 without NUL")
	case utf8.RuneCountInString(query) > maxQuery:
		return nil, apierror.InvalidAt("query", "must have at most %d characters", maxQuery)
	}
	var found []User
	if finder, ok := o.cfg.Host.(Finder); ok {
		users, err := finder.FindUsers(ctx, query, maxFound)
		if err != nil {
			return nil, err
		}
		found = users[:min(len(users), maxFound)]
	}
	if !slices.ContainsFunc(found, func(u User) bool { return u.ID == query }) {
		switch user, ok, err := o.cfg.Host.User(ctx, query); {
		case err != nil:
			return nil, err
		case ok:
			found = append(found, user)
		}
	}
	all := make([]UserDetails, 0, len(found))
	for _, user := range found {
		status, err := o.cfg.Store.UserStatus(ctx, user.ID)
		if err != nil {
			return nil, err
		}
		user.Name, user.Email = text.Line(user.Name), text.Line(user.Email)
		all = append(all, UserDetails{user, status})
	}
	return all, nil
}

// Organization returns an organization, with its id as the name if the host cannot tell.
func (o *Operator) Organization(ctx context.Context, _ Actor, organizationID string) (console.Organization, error) {
	if organizationID == "" || !text.IsStorable(organizationID) || utf8.RuneCountInString(organizationID) > maxQuery {
		return console.Organization{}, apierror.NotFound("organization")
	}
	found, err := o.findOrganizations(ctx, organizationID)
	if err != nil {
		return console.Organization{}, err
	}
	if i := slices.IndexFunc(found, func(one console.Organization) bool { return one.ID == organizationID }); i >= 0 && text.Line(found[i].Name) != "" {
		return console.Organization{ID: organizationID, Name: text.Line(found[i].Name)}, nil
	}
	return console.Organization{ID: organizationID, Name: organizationID}, nil
}

func (o *Operator) findOrganizations(ctx context.Context, query string) ([]console.Organization, error) {
	finder, ok := o.cfg.Host.(Finder)
	if !ok {
		return nil, nil
	}
	found, err := finder.FindOrganizations(ctx, query, maxFound)
	found = slices.DeleteFunc(found[:min(len(found), maxFound)], func(one console.Organization) bool { return one.ID == "" })
	return found, err
}

func (o *Operator) findUsers(w http.ResponseWriter, r *http.Request, by Actor) error {
	q := jsonapi.ParseQuery(r.URL.RawQuery)
	query := q.Text("query")
	if err := q.Err(); err != nil {
		return err
	}
	found, err := o.FindUsers(r.Context(), by, query)
	if err != nil {
		return err
	}
	type payload struct {
		ID     string `json:"id"`
		Name   string `json:"name,omitempty"`
		Email  string `json:"email,omitempty"`
		Status string `json:"status"`
	}
	return jsonapi.WriteList(w, found, func(u UserDetails) payload { return payload{u.ID, u.Name, u.Email, string(u.Status)} })
}
