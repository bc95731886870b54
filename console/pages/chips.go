package pages

import (
	"net/url"
	"strings"

	"github.com/partnerkit/partnerkit/internal/look"
)

// withClear completes chips: what is set, and the address of the list without it.
func (v *visit) withClear(list string, filter url.Values, chips []look.Chip) look.Chips {
	for i := range chips {
		chip := &chips[i]
		set := filter[chip.Name]
		if chip.Problem != "" || len(set) == 0 || set[0] == "" {
			continue
		}
		if chip.Text == "" {
			chip.Text = strings.Join(set, ", ")
		}
		if chip.Kind == "moment" {
			chip.Text = strings.Replace(chip.Text, "T", " ", 1)
		}
		rest := url.Values{}
		for name, values := range filter {
			if name != chip.Name && name != "after" {
				rest[name] = values
			}
		}
		chip.Clear = v.site.ListAt(list, rest, "")
	}
	all := v.site.ListAt(list, nil, "")
	return look.Chips{Action: all, All: all, Chips: chips}
}
