package look

// Chips are the filters of a list: one form, each of whose fields is behind a chip.
type Chips struct {
	Action string // where the form leads
	All    string // the list without filters
	Chips  []Chip
}

// Any reports whether a filter is set.
func (c Chips) Any() bool {
	for _, one := range c.Chips {
		if one.Text != "" {
			return true
		}
	}
	return false
}

// Chip is a filter: a field of the form, and what it is set to.
type Chip struct {
	Name, Label string
	Value       string // of the field
	Text        string // what is set, in words; empty: nothing is
	Clear       string // the list without this filter
	Kind        string // text when empty; moment, day, choices or select
	Hint        string
	Example     string
	List        string   // the id of a datalist
	Choices     []Choice // of the kinds choices and select
	Problem     string   // what is wrong with the value
	IsFirst     bool     // of the form's problems
}

// Choice is one of several values.
type Choice struct {
	Value, Text string
	Chosen      bool
}

// At is the chip for one of its choices: the first has the focus of a problem.
func (c Chip) At(i int) Chip {
	c.IsFirst = c.IsFirst && i == 0
	return c
}
