package secret

import "regexp"

// forms match tokens, codes and secrets: a kind's prefix and what follows
// it, even if it is cut off; a session token, which is a JWT; and a user code. A webhook
// secret may be in standard base64.
var forms = regexp.MustCompile(`(pk_(?:at|rt|ac|dc|cs|reg|ct|ses|req|brw)_|whsec_)[A-Za-z0-9_+/=-]+` +
	`|(eyJ)[A-Za-z0-9_-]*\.[A-Za-z0-9_.-]+` +
	`|()\b[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}\b`)

// Mask replaces all text in the form of a partnerkit token, code or secret with its prefix
// and a placeholder.
func Mask(text string) string { return forms.ReplaceAllString(text, "${1}${2}"+placeholder) }
