package header_test

import (
	"net/http"
	"testing"

	"github.com/partnerkit/partnerkit/internal/header"
)

func TestAuthorization(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		values      []string
		credentials string
		found       bool
	}{
		{nil, "", false},
		{[]string{"Bearer abc"}, "abc", true},
		{[]string{" bEARER   abc "}, "abc", true},
		{[]string{"Bearer"}, "", true},
		{[]string{"Basic abc"}, "", false},
		{[]string{"Bearerabc"}, "", false},
		{[]string{""}, "", false},
		{[]string{"Bearer abc", "Bearer abc"}, "", true},
		{[]string{"Basic abc", "Bearer abc"}, "", true},
		{[]string{"Basic abc", "Digest abc"}, "", false},
	} {
		got, found := header.Authorization(http.Header{"Authorization": test.values}, "Bearer")
		if got != test.credentials || found != test.found {
			t.Errorf("%q: %q, %v", test.values, got, found)
		}
	}
}

func TestMediaTypes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		types, codings []string
		media, utf8    string
	}{
		{nil, nil, "", ""},
		{[]string{"application/json"}, nil, "application/json", "application/json"},
		{[]string{"Application/JSON; charset=UTF-8"}, []string{"identity"}, "application/json", "application/json"},
		{[]string{"application/json; charset=latin1"}, nil, "application/json", ""},
		{[]string{"application/json; charset"}, nil, "", ""},
		{[]string{"application/json", "application/json"}, nil, "application/json", ""},
		{[]string{"application/json"}, []string{"gzip"}, "application/json", ""},
		{[]string{"application/json"}, []string{"identity", "gzip"}, "application/json", ""},
		{[]string{"application/json"}, []string{""}, "application/json", "application/json"},
	} {
		h := http.Header{"Content-Type": test.types, "Content-Encoding": test.codings}
		if media, utf8 := header.MediaType(h), header.UTF8Type(h); media != test.media || utf8 != test.utf8 {
			t.Errorf("%q %q: %q, %q", test.types, test.codings, media, utf8)
		}
	}
}
