package oauthserver

import (
	"bytes"
	"io"
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
)

// decodeStrict decodes JSON that did not come as the body of a request by the
// rules of [apierror.DecodeJSON]: names match to the letter, none comes twice, no
// value has another type. encoding/json alone would let the last of two members
// win, and would take CLIENT_ID for client_id.
//
// Its error repeats names of members and is made for whoever sent the JSON; it
// carries the status of an answer, so nobody wraps it.
func decodeStrict(data []byte, dst any, limits apierror.JSONLimits) error {
	return apierror.DecodeJSON(&http.Request{
		Header:        http.Header{"Content-Type": {"application/json"}},
		Body:          io.NopCloser(bytes.NewReader(data)),
		ContentLength: int64(len(data)),
	}, dst, limits)
}
