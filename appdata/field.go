package appdata

import (
	"github.com/partnerkit/partnerkit/appdata/valuestore"
)

// rulesOf names the rules that each type has.
var rulesOf = map[valuestore.Type][]string{
	valuestore.Text:    {"minLength", "maxLength"},
	valuestore.Number:  {"min", "max", "decimals"},
	valuestore.Boolean: {},
	valuestore.Date:    {"from", "to"},
	valuestore.URL:     {"maxLength"},
	valuestore.Choice:  {"choices"},
}
