package inbox

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"time"
)

// ServerTime returns a clock for [signature.Config]. Against the reference server in
// development mode, whose clock can be moved and which signs by it, it asks that
// server each time; against any other it is time.Now, which is what a receiver
// uses in earnest.
func ServerTime(ctx context.Context, apiURL string) func() time.Time {
	if u, err := url.Parse(apiURL); err != nil || !isLoopback(u.Hostname()) {
		return time.Now
	}
	ask := func() (time.Time, error) { return devClock(context.WithoutCancel(ctx), apiURL) }
	if _, err := ask(); err != nil {
		return time.Now
	}
	return func() time.Time {
		now, err := ask()
		if err != nil {
			return time.Now()
		}
		return now
	}
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

func devClock(ctx context.Context, apiURL string) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, apiURL+"/dev/clock", nil)
	if err != nil {
		return time.Time{}, err
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return time.Time{}, err
	}
	defer res.Body.Close()
	var clock struct{ Now int64 }
	if err := json.NewDecoder(http.MaxBytesReader(nil, res.Body, 1024)).Decode(&clock); err != nil {
		return time.Time{}, err
	}
	if res.StatusCode != http.StatusOK || clock.Now == 0 {
		return time.Time{}, errors.New("the server has no clock to move")
	}
	return time.Unix(clock.Now, 0), nil
}
