package webhooks

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/internal/outbound"
)

// Fault is what goes wrong with an attempt, see [Options.Fault]. The zero value is nothing.
type Fault struct {
	// Status is recorded as that of the response. Nothing is sent. 0 means that the
	// endpoint responds by itself.
	Status int
	// Delay passes before anything else happens. After ten seconds the attempt times out.
	Delay time.Duration
	// LoseResponse sends the delivery and takes no notice of the response.
	LoseResponse bool
}

var (
	errFaultTimeout = &outbound.Error{Kind: outbound.KindTimeout, Err: errors.New("a fault delayed the attempt")}
	errFaultLost    = &outbound.Error{Kind: outbound.KindResponse, Err: errors.New("a fault lost the response")}
)

// send sends a request with the fault.
func (f Fault) send(req *http.Request, client *outbound.Client) (*outbound.Response, error) {
	if err := f.wait(req.Context()); err != nil {
		return nil, err
	}
	if f.Status != 0 {
		return &outbound.Response{Status: f.Status}, nil
	}
	res, err := client.Send(req)
	if err == nil && f.LoseResponse {
		return nil, errFaultLost
	}
	return res, err
}

func (f Fault) wait(ctx context.Context) error {
	if f.Delay <= 0 {
		return nil
	}
	timer := time.NewTimer(min(f.Delay, outbound.DefaultTimeout))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return &outbound.Error{Kind: outbound.KindCanceled, Err: ctx.Err()}
	case <-timer.C:
	}
	if f.Delay >= outbound.DefaultTimeout {
		return errFaultTimeout
	}
	return nil
}
