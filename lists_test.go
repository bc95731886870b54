package partnerkit_test

import (
	"slices"
	"testing"

	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/partnertest"
)

// A host reads all apps, the installations of an app and those of a business, page by page.
func TestLists(t *testing.T) {
	t.Parallel()
	h := partnertest.New(t)
	businesses := []string{partnertest.Business, "biz_2", "biz_3"}
	for _, id := range businesses[1:] {
		h.Host.AddBusiness(partnertest.User, oauthserver.Business{ID: id, Name: id, MayConnect: true})
	}
	first := h.Connect(partnertest.ConnectOptions{BusinessID: businesses[0]})
	second := h.Connect(partnertest.ConnectOptions{BusinessID: businesses[0]})
	third := h.Connect(partnertest.ConnectOptions{BusinessID: businesses[0]})
	for _, id := range businesses[1:] {
		h.Connect(partnertest.ConnectOptions{App: first, BusinessID: id})
	}
	if err := h.OAuth().Uninstall(t.Context(), third.ID, businesses[0], ""); err != nil {
		t.Fatal(err)
	}
	t.Run("all apps", func(t *testing.T) {
		var got []string
		q := partner.AppQuery{All: true, Limit: 2}
		for {
			page, err := h.OAuth().Apps(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			for _, app := range page.Apps {
				got = append(got, app.ID)
			}
			if q.Before = page.Next; q.Before == "" {
				break
			}
		}
		want := []string{first.ID, second.ID, third.ID}
		slices.Sort(want)
		slices.Reverse(want)
		if !slices.Equal(got, want) {
			t.Errorf("apps %v, want %v", got, want)
		}
		if page, err := h.OAuth().Apps(t.Context(), partner.AppQuery{}); err != nil || len(page.Apps) != 0 {
			t.Errorf("the zero query: %v, %v", page, err)
		}
		if page, err := h.OAuth().Apps(t.Context(), partner.AppQuery{OrganizationIDs: []string{partnertest.Organization}}); err != nil || len(page.Apps) != 3 || page.Next != "" {
			t.Errorf("of the organization: %v, %v", page, err)
		}
	})
	for name, test := range map[string]struct {
		q    partner.InstallationQuery
		want []string // app and business
	}{
		"of an app":      {partner.InstallationQuery{AppID: first.ID}, []string{first.ID + businesses[0], first.ID + businesses[1], first.ID + businesses[2]}},
		"of a business":  {partner.InstallationQuery{BusinessID: businesses[0]}, []string{first.ID + businesses[0], second.ID + businesses[0]}},
		"of both":        {partner.InstallationQuery{AppID: second.ID, BusinessID: businesses[0]}, []string{second.ID + businesses[0]}},
		"that has ended": {partner.InstallationQuery{AppID: third.ID}, nil},
	} {
		t.Run("installations "+name, func(t *testing.T) {
			for _, limit := range []int{0, 1, 2} {
				var got, ids []string
				q := test.q
				q.Limit = limit
				for {
					page, err := h.OAuth().Installations(t.Context(), q)
					if err != nil {
						t.Fatal(err)
					}
					for _, i := range page.Installations {
						got, ids = append(got, i.AppID+i.BusinessID), append(ids, i.ID)
					}
					if q.After = page.Next; q.After == "" {
						break
					}
				}
				slices.Sort(got)
				slices.Sort(test.want)
				if !slices.Equal(got, test.want) || !slices.IsSorted(ids) {
					t.Errorf("with limit %d: %v in the order %v, want %v", limit, got, ids, test.want)
				}
			}
		})
	}
	for _, q := range []partner.InstallationQuery{{After: "\xff"}, {Limit: -1}} {
		if _, err := h.OAuth().Installations(t.Context(), q); err == nil {
			t.Errorf("%+v is allowed", q)
		}
	}
}
