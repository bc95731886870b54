package appdata

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/text"
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
		return fmt.Errorf("appdata: %w", err)
	}
	shown := slices.DeleteFunc(found, func(v valuestore.Value) bool { return !s.mayRead(p, v.ResourceType) })
	return apierror.WriteJSON(w, http.StatusOK, map[string][]valuestore.Value{"data": append([]valuestore.Value{}, shown...)})
}

// parseQuery reads the parameters resourceId, resourceIds, resourceType and key.
// Others are ignored. An empty id is none.
func (s *Service) parseQuery(raw string) (valuestore.Query, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return valuestore.Query{}, apierror.Invalid("the query is not well-formed")
	}
	ids, err := parseIDs(values)
	if err != nil {
		return valuestore.Query{}, err
	}
	var v apierror.Validation
	for _, name := range []string{"resourceId", "resourceType", "key"} {
		if len(values[name]) > 1 {
			v.Add(name, "must be given once")
		}
	}
	if slices.ContainsFunc(ids, func(id string) bool { return !isResourceID(id) }) {
		v.Add("resourceId", "and resourceIds must be ids of at most %d characters, in UTF-8 and without NUL", maxResourceID)
	}
	q := valuestore.Query{ResourceIDs: ids, ResourceType: values.Get("resourceType"), Key: values.Get("key")}
	if _, ok := s.cfg.Types[q.ResourceType]; !ok && values.Has("resourceType") {
		v.Add("resourceType", "must be one of %s", s.typeNames)
	}
	if values.Has("key") && !validKey.MatchString(q.Key) {
		v.Add("key", "is not one that a field can have")
	}
	if err := v.Err(); err != nil {
		return valuestore.Query{}, err
	}
	if len(ids) == 0 {
		return valuestore.Query{}, codes.ProvideResourceIDs.New()
	}
	return q, nil
}

// parseIDs returns the ids of resourceId, and of resourceIds, whose lists are separated
// by commas. Each id is returned once, and counts toward the bound as often as it was
// sent. An empty id is none.
func parseIDs(values url.Values) ([]string, error) {
	ids := slices.DeleteFunc(slices.Clone(values["resourceId"]), isEmpty)
	for _, list := range values["resourceIds"] {
		for id := range strings.SplitSeq(list, ",") {
			if len(ids) > MaxResources {
				break
			}
			if !isEmpty(id) {
				ids = append(ids, id)
			}
		}
	}
	if len(ids) > MaxResources {
		return nil, codes.TooManyResourceIDs.New()
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

func isEmpty(text string) bool { return text == "" }

func isResourceID(id string) bool {
	return id != "" && text.IsStorable(id) && utf8.RuneCountInString(id) <= maxResourceID
}
