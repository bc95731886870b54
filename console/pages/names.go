package pages

import "github.com/partnerkit/partnerkit/internal/look"

// named returns businesses by id, with the names of those that have connected the app.
func (v *visit) named(businessIDs []string) (map[string]look.Named, error) {
	names, err := v.cfg.Console.BusinessNames(v.r.Context(), v.by, v.app.ID, businessIDs...)
	if err != nil {
		return nil, err
	}
	all := make(map[string]look.Named, len(businessIDs))
	for _, id := range businessIDs {
		all[id] = look.Named{ID: id, Name: names[id]}
	}
	return all, nil
}

// idsOf returns an id of each of some things.
func idsOf[T any](all []T, id func(T) string) []string {
	ids := make([]string, 0, len(all))
	for _, one := range all {
		ids = append(ids, id(one))
	}
	return ids
}
