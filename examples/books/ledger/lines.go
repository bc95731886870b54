package ledger

import (
	"fmt"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/strictjson"
)

// givenLine is a line as an app sends it: the side that it is not on is 0 or absent.
type givenLine struct {
	AccountID string `json:"accountId"`
	Debit     *int64 `json:"debit"`
	Credit    *int64 `json:"credit"`
}

// validateLines records every invalid line of an entry. The bounds of lines and money keep
// the sums far from overflowing.
func validateLines(f form, given []givenLine) []Line {
	if n := len(given); n < 2 || n > maxLines {
		f.Add("lines", linesSize, maxLines) // far longer lists were refused while they were read
	}
	lines := make([]Line, len(given))
	var debit, credit int64
	for i, g := range given {
		f.at = indexed("lines", i)
		f.text("accountId", g.AccountID, 64)
		lines[i] = Line{AccountID: g.AccountID, Debit: f.side("debit", g.Debit), Credit: f.side("credit", g.Credit)}
		if (lines[i].Debit > 0) == (lines[i].Credit > 0) {
			f.Add(fmt.Sprintf("lines[%d]", i), "must have either a debit or a credit above 0")
		}
		debit += lines[i].Debit
		credit += lines[i].Credit
	}
	if len(lines) > 1 && debit != credit {
		f.Add("lines", "must balance: they debit %d and credit %d", debit, credit)
	}
	return lines
}

// linesSize is the problem of a wrong number of lines.
const linesSize = "must have 2 to %d entries"

// entryLimits bound the body of an entry.
func entryLimits() strictjson.Limits {
	return strictjson.Limits{Lists: map[string]strictjson.List{"lines": {Most: maxLines, Refusal: apierror.InvalidAt("lines", linesSize, maxLines)}}}
}

// side is money that may be absent.
func (f form) side(name string, value *int64) int64 {
	if value == nil {
		return 0
	}
	return f.money(name, value, 0)
}
