package secret

// Kinds and AppendLetters are for the tests.
var (
	Kinds         = kinds
	AppendLetters = appendLetters
)
