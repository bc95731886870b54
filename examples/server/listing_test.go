package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

// CON-03, AZ-16: a listing from its first save to the store, with the reviewer's
// steps from /dev.
func TestListingFromOutside(t *testing.T) {
	t.Parallel()
	r := start(t)
	developer := r.session("usr_cleo", "biz_papertrail_sandbox")
	listing := func(method, path, body string) response {
		return r.console(developer, method, "apps/app_beta/listing"+path, body)
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
	if a := r.console(developer, http.MethodGet, "apps/app_beta", "").want(t, http.StatusOK); !strings.Contains(a.body, `"reviewed":true`) {
		t.Errorf("the review is not complete: %s", a.body)
	}
	var listed struct {
		Data []struct{ Kind, Time, AppID, UserID, Text string }
	}
	told := get(t, http.DefaultClient, r.api+"/dev/notifications").want(t, http.StatusOK)
	if err := json.Unmarshal([]byte(told.body), &listed); err != nil || len(listed.Data) < 2 {
		t.Fatalf("OPS-03 notifications: %s %v", told.body, err)
	}
	for i, want := range []string{"listing.decided", "listing.submitted"} {
		if one := listed.Data[i]; one.Kind != want || one.AppID != "app_beta" || one.Text == "" {
			t.Errorf("OPS-03 notification %d is %+v, want %s", i, one, want)
		}
		if at, err := time.Parse(time.RFC3339, listed.Data[i].Time); err != nil || at.Nanosecond()%1e6 != 0 {
			t.Errorf("the time of notification %d is %s, want milliseconds", i, listed.Data[i].Time)
		}
	}
}
