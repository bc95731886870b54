package openapi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Figures are the numbers of a configuration that descriptions mention.
type Figures struct {
	Request, Code, AccessToken, DeviceCode, DeviceInterval, RegistrationToken, RedactDelay time.Duration

	Events, IdempotencyKeys, SecretOverlap time.Duration
	// RetryDelays are the pauses between the attempts of a delivery.
	RetryDelays []time.Duration

	PerBusiness, PerApp, PerAddress, DeviceAuthorize Rate
	// UserCodes is how many wrong user codes close the device form, for UserCodesPause.
	UserCodes      Rate
	UserCodesPause time.Duration
}

// Rate is a number in a window of time.
type Rate struct {
	Count  int
	Window time.Duration
}

func (r Rate) String() string {
	window := inWords(r.Window)
	if one, ok := strings.CutPrefix(window, "1 "); ok {
		window = one
	}
	return grouped(r.Count) + " per " + window
}

// words are pairs of a name in own.json and its text, as strings.NewReplacer takes them.
func (f Figures) words() []string {
	var words []string
	for name, d := range map[string]time.Duration{
		"accessTokenSeconds": f.AccessToken, "deviceCodeSeconds": f.DeviceCode, "deviceIntervalSeconds": f.DeviceInterval,
	} {
		words = append(words, `"${`+name+`}"`, strconv.FormatInt(int64(d/time.Second), 10)) // a number
	}
	for name, d := range map[string]time.Duration{
		"request": f.Request, "code": f.Code, "registrationToken": f.RegistrationToken, "redactDelay": f.RedactDelay,
		"events": f.Events, "idempotencyKeys": f.IdempotencyKeys, "secretOverlap": f.SecretOverlap,
		"userCodesWindow": f.UserCodes.Window, "userCodesPause": f.UserCodesPause,
	} {
		words = append(words, "${"+name+"}", inWords(d))
	}
	for name, r := range map[string]Rate{
		"perBusiness": f.PerBusiness, "perApp": f.PerApp, "perAddress": f.PerAddress, "deviceAuthorize": f.DeviceAuthorize,
	} {
		words = append(words, "${"+name+"}", r.String())
	}
	return append(words, "${userCodes}", grouped(f.UserCodes.Count), "${attempts}", f.attempts())
}

// attempts says when a delivery is tried again.
func (f Figures) attempts() string {
	if len(f.RetryDelays) == 0 {
		return "A delivery is not tried again."
	}
	delays := make([]string, len(f.RetryDelays))
	for i, delay := range f.RetryDelays {
		delays[i] = inWords(delay)
	}
	return fmt.Sprintf("A delivery is tried again after %s, and has failed after %d attempts.", joined(delays), len(delays)+1)
}

// joined returns a list in a sentence.
func joined(parts []string) string {
	last := len(parts) - 1
	if last == 0 {
		return parts[0]
	}
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}

// inWords writes a duration in the largest unit that divides it.
func inWords(d time.Duration) string {
	for _, unit := range []struct {
		of   time.Duration
		name string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}} {
		n := int(d / unit.of)
		switch {
		case d%unit.of != 0 || n == 0, unit.name == "day" && n == 1: // 24 hours
			continue
		case n == 1:
			return "1 " + unit.name
		}
		return grouped(n) + " " + unit.name + "s"
	}
	return d.String()
}

// grouped writes a number with commas between thousands.
func grouped(n int) string {
	digits := []byte(strconv.Itoa(n))
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = slices.Insert(digits, i, ',')
	}
	return string(digits)
}
