package apierror

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
)

// WriteJSON answers with value as JSON. It encodes before it writes: when
// encoding fails nothing has been sent, and a [Handler] that returns the error
// still gets its 500. A client that leaves while it is being answered is no
// error.
func WriteJSON(w http.ResponseWriter, status int, value any) error {
	encoded, err := EncodeJSON(value)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(encoded)
	return nil
}

// EncodeJSON returns the bytes that [WriteJSON] sends: JSON without escapes for
// HTML (URLs and names stay readable) and without a final newline.
func EncodeJSON(value any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}
