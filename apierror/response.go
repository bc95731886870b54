package apierror

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
)

// WriteJSON writes value as a JSON response. It encodes before it writes: when
// encoding fails nothing has been sent, and a [Handler] that returns the error
// still gets its 500. A client that disconnects during the response is not an
// error.
func WriteJSON(w http.ResponseWriter, status int, value any) error {
	e := encoders.Get().(*encoder)
	defer e.release()
	encoded, err := e.encode(value)
	if err != nil {
		return err
	}
	header, values := w.Header(), []string{"application/json", "nosniff"} // one allocation: every response has them
	header["Content-Type"], header["X-Content-Type-Options"] = values[0:1:1], values[1:2:2]
	w.WriteHeader(status)
	_, _ = w.Write(encoded)
	return nil
}

// EncodeJSON returns the bytes that [WriteJSON] sends: JSON without escapes for
// HTML (URLs and names stay readable) and without a final newline.
func EncodeJSON(value any) ([]byte, error) {
	e := encoders.Get().(*encoder)
	defer e.release()
	encoded, err := e.encode(value)
	return bytes.Clone(encoded), err
}

// encoder makes JSON in a buffer that is used again.
type encoder struct {
	buffer bytes.Buffer
	json   *json.Encoder
}

var encoders = sync.Pool{New: func() any { return newEncoder() }}

func newEncoder() *encoder {
	var e encoder
	e.json = json.NewEncoder(&e.buffer)
	e.json.SetEscapeHTML(false)
	return &e
}

// encode returns bytes that are good until the encoder is released.
func (e *encoder) encode(value any) ([]byte, error) {
	if err := e.json.Encode(value); err != nil {
		return nil, fmt.Errorf("encode response: %w", err)
	}
	return bytes.TrimSuffix(e.buffer.Bytes(), []byte("\n")), nil
}

// release gives the encoder back, unless its buffer has become a large one.
func (e *encoder) release() {
	if e.buffer.Cap() > 64<<10 {
		return
	}
	e.buffer.Reset()
	encoders.Put(e)
}
