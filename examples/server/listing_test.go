package main

import (
	"net/http"
	"strings"
	"testing"
)

// CON-03, AZ-16: a listing from its first save to the store, with the reviewer's
// steps from /dev.
func TestListingFromOutside(t *testing.T) {
	t.Parallel()
	r := start(t)
	developer := r.session("usr_cleo", "biz_papertrail_sandbox")
	listing := func(method, path, body string) answer {
		return r.desk(developer, method, "apps/app_beta/listing"+path, body)
	}
	const content = `{"slug": "papertrail", "name": "Papertrail", "summary": "Keeps your papers", "description": "All of them."}`
	listing(http.MethodPost, "", content).want(t, http.StatusCreated)
	if a := listing(http.MethodPost, "", content).want(t, http.StatusConflict); !strings.Contains(a.body, "LISTING_EXISTS") {
		t.Errorf("a second first save: %s", a.body)
	}
	r.dev("apps/papertrail-beta/listing", `{"state": "in_review"}`).want(t, http.StatusBadRequest)
	r.dev("apps/papertrail-beta/listing", `{"state": "published"}`).want(t, http.StatusBadRequest)
	r.dev("apps/nobody/listing", `{"state": "in_review"}`).want(t, http.StatusNotFound)
	listing(http.MethodPost, "/submit", "").want(t, http.StatusOK)
	for _, state := range []string{"in_review", "approved"} {
		r.dev("apps/papertrail-beta/listing", `{"state": "`+state+`"}`).want(t, http.StatusOK)
	}
	if a := listing(http.MethodGet, "", "").want(t, http.StatusOK); !strings.Contains(a.body, `"live":{`) {
		t.Errorf("after the approval: %s", a.body)
	}
	if a := r.desk(developer, http.MethodGet, "apps/app_beta", "").want(t, http.StatusOK); !strings.Contains(a.body, `"reviewed":true`) {
		t.Errorf("the review is not complete: %s", a.body)
	}
}
