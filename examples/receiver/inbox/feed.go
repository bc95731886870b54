package inbox

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

const (
	pageSize = 100      // events, the most that the Events API gives at a time
	maxPage  = 16 << 20 // bytes
)

// EventsAPI is the [Feed] of the business whose token Client sends.
type EventsAPI struct {
	URL    string // of the API host
	Client *http.Client
	Types  []string // the events to read; empty means all that the app may see
}

// Events implements [Feed].
func (a EventsAPI) Events(ctx context.Context, after string) (Page, error) {
	query := url.Values{"limit": {strconv.Itoa(pageSize)}}
	if after != "" {
		query.Set("after", after)
	}
	if len(a.Types) > 0 {
		query.Set("types", strings.Join(a.Types, ","))
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, a.URL+"/events?"+query.Encode(), nil)
	if err != nil {
		return Page{}, err
	}
	res, err := a.Client.Do(r)
	if err != nil {
		return Page{}, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxPage))
	if err != nil {
		return Page{}, err
	}
	if res.StatusCode != http.StatusOK {
		return Page{}, refusal(res.StatusCode, body)
	}
	var page Page
	if err := json.Unmarshal(body, &page); err != nil {
		return Page{}, fmt.Errorf("GET /events: %w", err)
	}
	return page, nil
}

// refusal reads an error by its code: the message is for people and may change.
func refusal(status int, body []byte) error {
	var problem struct {
		Code    string          `json:"code"`
		Message json.RawMessage `json:"message"` // a text, or a list of them
	}
	_ = json.Unmarshal(body, &problem) // a proxy may respond with something else
	if problem.Code == "UNKNOWN_CURSOR" {
		return ErrUnknownCursor
	}
	return fmt.Errorf("GET /events: %d %s %s", status, problem.Code, problem.Message)
}
