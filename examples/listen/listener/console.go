package listener

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// maxResponse is as much of a response of the service as is read, in bytes.
const maxResponse = 1 << 20

// console is the developer console's API, and what development mode adds to it.
type console struct {
	api, userID string
	client      *http.Client
}

// app of the console, by either of its ids.
func (c *console) app(ctx context.Context, appID, clientID string) (app, error) {
	for after := ""; ; {
		var page struct {
			Data       []app
			NextCursor string
		}
		if err := c.asDeveloper(ctx, call{http.MethodGet, "/developer/apps?limit=100&after=" + url.QueryEscape(after), nil, &page}); err != nil {
			return app{}, err
		}
		for _, a := range page.Data {
			if a.ID == appID || a.ClientID == clientID {
				return a, nil
			}
		}
		if after = page.NextCursor; after == "" {
			return app{}, fmt.Errorf("%s has no app %s", c.userID, appID+clientID)
		}
	}
}

type app struct{ ID, ClientID string }

// definition is an event of the catalog.
type definition struct {
	Name   string
	Sample json.RawMessage
}

func (c *console) catalog(ctx context.Context) ([]definition, error) {
	var catalog struct{ Data []definition }
	err := c.asDeveloper(ctx, call{http.MethodGet, "/developer/events", nil, &catalog})
	return catalog.Data, err
}

type webhook struct{ ID, Secret string }

func (c *console) createWebhook(ctx context.Context, appID, address string, events []string) (webhook, error) {
	var w webhook
	in := map[string]any{"url": address, "events": events}
	err := c.asDeveloper(ctx, call{http.MethodPost, "/developer/apps/" + url.PathEscape(appID) + "/webhooks", in, &w})
	return w, err
}

func (c *console) deleteWebhook(ctx context.Context, appID, webhookID string) error {
	return c.asDeveloper(ctx, call{http.MethodDelete, "/developer/apps/" + url.PathEscape(appID) + "/webhooks/" + url.PathEscape(webhookID), nil, nil})
}

// now returns the service's time, which may have been moved.
func (c *console) now(ctx context.Context) (time.Time, error) {
	var clock struct{ Now int64 }
	err := c.do(ctx, call{http.MethodGet, "/dev/clock", nil, &clock}, "")
	return time.Unix(clock.Now, 0), err
}

// call is one call; in and out are JSON, or nil.
type call struct {
	method, path string
	in, out      any
}

// asDeveloper signs the developer in and makes the call. It does so every time: when
// the clock is moved, sessions end.
func (c *console) asDeveloper(ctx context.Context, do call) error {
	var session struct{ Cookie string }
	in := map[string]string{"userId": c.userID}
	if err := c.do(ctx, call{http.MethodPost, "/dev/sessions", in, &session}, ""); err != nil {
		return fmt.Errorf("sign in: %w (is %s in development mode?)", err, c.api)
	}
	return c.do(ctx, do, session.Cookie)
}

func (c *console) do(ctx context.Context, do call, cookie string) error {
	var body io.Reader
	if do.in != nil {
		text, err := json.Marshal(do.in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, do.method, c.api+do.path, body)
	if err != nil {
		return err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if cookie != "" {
		r.Header.Set("Cookie", cookie)
	}
	res, err := c.client.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	response, err := io.ReadAll(io.LimitReader(res.Body, maxResponse))
	switch {
	case err != nil:
		return err
	case res.StatusCode < 200 || res.StatusCode > 299:
		return refusal(do, res.StatusCode, response)
	case do.out == nil:
		return nil
	}
	if err := json.Unmarshal(response, do.out); err != nil {
		return fmt.Errorf("%s %s: %w", do.method, do.path, err)
	}
	return nil
}

// refusal returns an error response of the service, with one message or several.
func refusal(do call, status int, response []byte) error {
	var said struct{ Message any }
	if json.Unmarshal(response, &said) != nil || said.Message == nil {
		return fmt.Errorf("%s %s: status %d", do.method, do.path, status)
	}
	return fmt.Errorf("%s %s: status %d: %q", do.method, do.path, status, said.Message)
}
