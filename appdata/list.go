package appdata

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/apierror"
)

// ListValues serves GET /app-data behind a guard: what the app has attached to some
// records of the business that it calls for, oldest first. Values of types that it may
// not read are left out.
func (s *Service) ListValues(w http.ResponseWriter, r *http.Request) error {
	p, err := caller(r)
	if err != nil {
		return err
	}
	q, err := s.parseQuery(r.URL.RawQuery)
	if err != nil {
		return err
	}
	if q.ResourceType != "" {
		if err := s.access(p, q.ResourceType); err != nil {
			return err
		}
	}
	q.AppID, q.BusinessID = p.AppID, p.BusinessID
	found, err := s.cfg.Store.Values(r.Context(), q)
	if err != nil {
		return fault(err)
	}
	shown := slices.DeleteFunc(found, func(v Value) bool { return !s.mayRead(p, v.ResourceType) })
	return apierror.WriteJSON(w, http.StatusOK, map[string][]Value{"data": append([]Value{}, shown...)})
}

// parseQuery reads the parameters resourceId, resourceIds, resourceType and key.
// Others are ignored. An empty id is none.
func (s *Service) parseQuery(raw string) (Query, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return Query{}, apierror.Invalid("the query is not well-formed")
	}
	ids := append(strings.Split(strings.Join(values["resourceIds"], ","), ","), values.Get("resourceId"))
	slices.Sort(ids)
	ids = slices.DeleteFunc(slices.Compact(ids), func(id string) bool { return id == "" })
	var v apierror.Validation
	for _, name := range []string{"resourceId", "resourceType", "key"} {
		if len(values[name]) > 1 {
			v.Add("%s must be given once", name)
		}
	}
	if slices.ContainsFunc(ids, func(id string) bool { return !isResourceID(id) }) {
		v.Add("resourceId and resourceIds must be ids of at most %d characters, in UTF-8 and without NUL", MaxResourceID)
	}
	q := Query{ResourceIDs: ids, ResourceType: values.Get("resourceType"), Key: values.Get("key")}
	if _, ok := s.cfg.Types[q.ResourceType]; !ok && values.Has("resourceType") {
		v.Add("resourceType must be one of %s", s.typeNames)
	}
	if values.Has("key") && !validKey.MatchString(q.Key) {
		v.Add("key is not one that a field can have")
	}
	if err := v.Err(); err != nil {
		return Query{}, err
	}
	switch {
	case len(ids) == 0:
		return Query{}, apierror.New(apierror.ProvideResourceIDs)
	case len(ids) > MaxResources:
		return Query{}, apierror.New(apierror.TooManyResourceIDs)
	}
	return q, nil
}

func isResourceID(id string) bool {
	return id != "" && isStorable(id) && utf8.RuneCountInString(id) <= MaxResourceID
}
