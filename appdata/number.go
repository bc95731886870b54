package appdata

import (
	"encoding/json"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// maxDigits is how many digits a number may have before and after the decimal point,
// written without an exponent. So that a few bytes cannot ask for a huge number.
const maxDigits = 40

// maxExponent is beyond what any number within maxDigits can be written with in a
// value.
const maxExponent = 2 * maxValue

var jsonNumber = regexp.MustCompile(`^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$`)

// exact is a number without rounding.
type exact struct {
	units    big.Int // of 10^-maxDigits
	decimals int     // digits after the point, without zeros at the end
}

// parseExact reads a JSON number; false when it is none or has too many digits.
func parseExact(text string) (exact, bool) {
	parts := jsonNumber.FindStringSubmatch(text)
	if parts == nil {
		return exact{}, false
	}
	sign, fraction, exponent := parts[1], parts[3], parts[4]
	digits := strings.TrimLeft(parts[2]+fraction, "0")
	significant := strings.TrimRight(digits, "0")
	if significant == "" {
		return exact{}, true // for every exponent
	}
	power := len(digits) - len(significant) - len(fraction) // of the last significant digit
	if exponent != "" {
		shift, err := strconv.Atoi(exponent)
		if err != nil || shift > maxExponent || shift < -maxExponent {
			return exact{}, false
		}
		power += shift
	}
	if len(significant)+power > maxDigits || power < -maxDigits {
		return exact{}, false
	}
	n := exact{decimals: max(0, -power)}
	_, ok := n.units.SetString(sign+significant+strings.Repeat("0", power+maxDigits), 10)
	return n, ok
}

func isExact(n json.Number) bool {
	_, ok := parseExact(string(n))
	return ok
}

// exceeds reports a > b, for numbers that are exact.
func exceeds(a, b json.Number) bool {
	left, _ := parseExact(string(a))
	right, _ := parseExact(string(b))
	return left.units.Cmp(&right.units) > 0
}
