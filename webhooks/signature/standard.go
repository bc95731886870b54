package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The headers of Standard Webhooks (standardwebhooks.com).
const (
	standardID        = "Webhook-Id"
	standardTime      = "Webhook-Timestamp"
	standardSignature = "Webhook-Signature"
)

// SetStandard sets the headers of Standard Webhooks for a message with this id that is sent
// at t: webhook-id, webhook-timestamp and webhook-signature, with a signature by each key. The
// libraries of Standard Webhooks take a key as "whsec_" and its standard base64.
func SetStandard(h http.Header, id string, t time.Time, body []byte, keys ...[]byte) {
	at := strconv.FormatInt(t.Unix(), 10)
	signatures := make([]string, len(keys))
	for i, key := range keys {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + at + "."))
		mac.Write(body)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	h.Set(standardID, id)
	h.Set(standardTime, at)
	h.Set(standardSignature, strings.Join(signatures, " "))
}
