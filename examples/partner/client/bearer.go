package client

import "net/http"

// Bearer sends the access token of a business. When the API responds with 401, it gets
// another one and asks once more; a second 401 is the response.
type Bearer struct {
	Source *Source
	Base   http.RoundTripper
}

// RoundTrip implements http.RoundTripper. Errors of [Source.Token] come back as
// they are.
func (t Bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := t.Source.Token(r.Context(), "")
	if err != nil {
		return nil, err
	}
	res, err := t.send(r, token)
	if err != nil || res.StatusCode != http.StatusUnauthorized || r.Body != nil && r.GetBody == nil {
		return res, err
	}
	discard(res)
	if token, err = t.Source.Token(r.Context(), token); err != nil {
		return nil, err
	}
	return t.send(r, token)
}

func (t Bearer) send(r *http.Request, token string) (*http.Response, error) {
	again, err := fresh(r)
	if err != nil {
		return nil, err
	}
	again.Header.Set("Authorization", "Bearer "+token)
	return t.Base.RoundTrip(again)
}
