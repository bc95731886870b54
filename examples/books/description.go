package books

import (
	_ "embed"
	"encoding/json"
	"sync"

	"github.com/partnerkit/partnerkit/guard"
)

// description.json describes the routes, by their patterns, and the schemas that the
// routes refer to.
//
//go:embed description.json
var descriptionFile []byte

type description struct {
	Schemas map[string]json.RawMessage
	Routes  map[string]guard.Description
}

var described = sync.OnceValue(func() (d description) {
	if err := json.Unmarshal(descriptionFile, &d); err != nil {
		panic("books: description.json: " + err.Error()) // the file is part of the binary
	}
	return d
})

// Schemas returns the JSON Schemas that the descriptions of [Books.Routes] refer to.
func (b *Books) Schemas() map[string]json.RawMessage { return described().Schemas }
