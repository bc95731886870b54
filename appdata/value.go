package appdata

// What a request may hold.
const (
	// MaxValues is how many values a PUT writes.
	MaxValues = 25
	// MaxResources is how many records a GET is about.
	MaxResources = 50
	// maxValue is how large a value may be, in bytes of JSON without needless
	// escapes.
	maxValue = 4 << 10
	// maxResourceID is how many characters the id of a record may have.
	maxResourceID = 256
)
