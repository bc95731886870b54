package strictjson

import (
	"fmt"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/text"
)

// A counter counts the depth of a JSON body, the entries of its arrays and the members
// of its objects while the body arrives. It needs no valid JSON: whether the body is
// valid is checked when all of it is there.
type counter struct {
	limits    Limits
	open      []container
	inString  bool
	isEscaped bool   // the character before was a backslash
	name      []byte // of the member of the body's own object, as it was sent
}

// container is an object or an array that has not ended.
type container struct {
	unit   string // what it has: entries or members
	bound  List
	commas int
}

// see counts the next bytes of the body. It returns an error when there is too much of
// something.
func (n *counter) see(bytes []byte) error {
	for _, c := range bytes {
		switch {
		case n.inString:
			n.seeInString(c)
		case c == '"':
			n.inString = true
			if len(n.open) == 1 {
				n.name = n.name[:0]
			}
		case c == '{' || c == '[':
			if len(n.open) == n.limits.MaxDepth {
				return apierror.Invalid(fmt.Sprintf("the body nests deeper than %d levels", n.limits.MaxDepth))
			}
			n.open = append(n.open, n.begin(c))
		case len(n.open) == 0:
		case c == '}' || c == ']':
			n.open = n.open[:len(n.open)-1]
		case c == ',':
			inside := &n.open[len(n.open)-1]
			if inside.commas++; inside.commas >= inside.bound.Most {
				return n.tooMany()
			}
		}
	}
	return nil
}

func (n *counter) seeInString(c byte) {
	const maxName = 64 // no List has a longer one
	switch {
	case n.isEscaped:
		n.isEscaped = false
	case c == '\\':
		n.isEscaped = true
	case c == '"':
		n.inString = false
		return
	}
	if len(n.open) == 1 && len(n.name) < maxName {
		n.name = append(n.name, c)
	}
}

// begin returns the object or array that begins with c.
func (n *counter) begin(c byte) container {
	began := container{unit: "entries", bound: List{Most: n.limits.MaxEntries}}
	if c == '{' {
		began.unit = "members"
		return began
	}
	if list, ok := n.limits.Lists[string(n.name)]; ok && len(n.open) == 1 {
		began.bound = list
	}
	return began
}

// tooMany is the error for one entry or member too many in what began last.
func (n *counter) tooMany() error {
	last := n.open[len(n.open)-1]
	switch {
	case last.bound.Refusal != nil:
		return last.bound.Refusal
	case len(n.open) == 1:
		return apierror.Invalid(fmt.Sprintf("the body must have at most %d %s", last.bound.Most, last.unit))
	case len(n.open) == 2:
		return apierror.InvalidAt(text.Name(string(n.name)), "must have at most %d %s", last.bound.Most, last.unit)
	}
	return apierror.Invalid(fmt.Sprintf("nothing in %s may have more than %d %s", text.Name(string(n.name)), last.bound.Most, last.unit))
}
