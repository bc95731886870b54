package ledger

import (
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/strictjson"
)

// maxMoney bounds an amount: every program reads it exactly, even if its numbers are
// floating point, and the sum of the lines of an entry cannot overflow.
const maxMoney = 1_000_000_000_000_000

// form validates the members of a body, or of one entry of a body.
type form struct {
	*apierror.Validation
	at string // in front of the names, such as "invoices[3]."
}

// decode reads a body whose members validate checks: the error names every problem of the
// body at once.
func decode(r *http.Request, body any, limits strictjson.Limits, validate func(form)) error {
	limits.Check = func() error {
		f := newForm()
		validate(f)
		return f.Err()
	}
	if err := strictjson.Decode(r, body, limits); err != nil {
		return err
	}
	return limits.Check()
}

func newForm() form { return form{Validation: &apierror.Validation{}} }

// text takes what people can read, of up to so many characters.
func (f form) text(name, value string, longest int) {
	if strings.TrimSpace(value) == "" || utf8.RuneCountInString(value) > longest || strings.ContainsFunc(value, unicode.IsControl) {
		f.Add(f.at+name, "must have 1 to %d characters, none of them a control character", longest)
	}
}

// email takes what could be an address; only a message to it would tell.
func (f form) email(name, value string) {
	local, domain, _ := strings.Cut(value, "@")
	if local == "" || domain == "" || strings.Contains(domain, "@") || len(value) > 254 ||
		strings.ContainsFunc(value, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		f.Add(f.at+name, "must be an address like name@example.com, of at most 254 bytes")
	}
}

// currency takes what has the form of ISO 4217's codes.
func (f form) currency(value string) {
	if len(value) != 3 || strings.Trim(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		f.Add(f.at+"currency", "must be three capital letters, such as EUR")
	}
}

// money takes an amount from least on, and returns it; 0 for one that is missing.
func (f form) money(name string, value *int64, least int64) int64 {
	if value == nil || *value < least || *value > maxMoney {
		f.Add(f.at+name, "must be an integer of minor units from %d to %d", least, int64(maxMoney))
		return 0
	}
	return *value
}

// date takes a day of the calendar.
func (f form) date(name, value string) {
	if _, err := time.Parse(time.DateOnly, value); err != nil {
		f.Add(f.at+name, "must be a date like 2026-09-01")
	}
}

// indexed returns the path of an entry of a list, in front of its members.
func indexed(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]." }
