package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// API makes calls for the business whose tokens HTTP sends.
type API struct {
	URL  string
	HTTP *http.Client // with [Bearer] over [Retry]
}

// Call is one request.
type Call struct {
	Method, Path string
	// Key is the Idempotency-Key, for writes. Under one key the service does the
	// work once: keep it with what the call is for, and use it again when that is
	// tried again, after a crash too.
	Key string
	In  any // sent as JSON; nil: nothing
	Out any // the response is read into it; nil: not read
}

// Do makes a call. The error is, or wraps, an [Error] when the API refused it, and
// [ErrReauthorize] when there is no access any more.
func (a API) Do(ctx context.Context, c Call) error {
	r, err := a.request(ctx, c)
	if err != nil {
		return err
	}
	res, err := a.HTTP.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxResponse))
	switch {
	case err != nil:
	case res.StatusCode < 200 || res.StatusCode > 299:
		err = parseError(res.StatusCode, text)
	case c.Out != nil:
		err = json.Unmarshal(text, c.Out)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", c.Method, c.Path, err)
	}
	return nil
}

func (a API) request(ctx context.Context, c Call) (*http.Request, error) {
	var body io.Reader
	if c.In != nil {
		text, err := json.Marshal(c.In)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text) // which lets the request be sent again
	}
	r, err := http.NewRequestWithContext(ctx, c.Method, a.URL+c.Path, body)
	if err != nil {
		return nil, err
	}
	if c.In != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.Key != "" {
		r.Header.Set("Idempotency-Key", c.Key)
	}
	return r, nil
}
