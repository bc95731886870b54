package appdata_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/harness"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/partnertest"
)

func ids(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("r%d", i)
	}
	return strings.Join(all, ",")
}

// APD-01: by one id or many, in any mixture; by type of record and key.
func TestList(t *testing.T) {
	t.Parallel()
	p := newAPI(t).connected()
	p.declare(p.app, `{"resourceType":"invoice","key":"a","type":"NUMBER"}`)
	p.declare(p.app, `{"resourceType":"invoice","key":"b","type":"NUMBER"}`)
	p.declare(p.app, `{"resourceType":"customer","key":"a","type":"NUMBER"}`)
	customer := func(resource, value string) string {
		return `{"resourceType":"customer","resourceId":"` + resource + `","key":"a","value":` + value + `}`
	}
	p.put(on("r1", "a", "1"), on("r1", "b", "2"), on("r2", "a", "3"), customer("r1", "4"), on("c,d", "a", "5"), on("r3", "b", "6")).values()
	for query, want := range map[string][]string{
		"resourceId=r1":                               {"r1 a 1", "r1 b 2", "r1 a 4"},
		"resourceIds=r1":                              {"r1 a 1", "r1 b 2", "r1 a 4"},
		"resourceIds=r2,r3":                           {"r2 a 3", "r3 b 6"},
		"resourceIds=r3&resourceIds=r2":               {"r2 a 3", "r3 b 6"},
		"resourceIds=r3,absent&resourceIds=r2,r3":     {"r2 a 3", "r3 b 6"},
		"resourceId=r3&resourceIds=r2":                {"r2 a 3", "r3 b 6"},
		"resourceId=r2&resourceIds=r2,r2":             {"r2 a 3"},
		"resourceIds=r2%2Cr3":                         {"r2 a 3", "r3 b 6"},
		"resourceId=c,d":                              {"c,d a 5"},
		"resourceIds=c,d":                             {},
		"resourceIds=,r2,":                            {"r2 a 3"},
		"resourceId=&resourceIds=r2":                  {"r2 a 3"},
		"resourceId=r1&resourceType=customer":         {"r1 a 4"},
		"resourceId=r1&resourceType=invoice":          {"r1 a 1", "r1 b 2"},
		"resourceId=r1&key=a":                         {"r1 a 1", "r1 a 4"},
		"resourceId=r1&key=a&resourceType=invoice":    {"r1 a 1"},
		"resourceId=r1&key=none":                      {},
		"resourceId=R1":                               {},
		"resourceId=absent&other=1":                   {},
		"resourceIds=" + ids(50):                      {"r1 a 1", "r1 b 2", "r2 a 3", "r1 a 4", "r3 b 6"},
		"resourceId=r7&resourceIds=r7,,r7," + ids(47): {"r1 a 1", "r1 b 2", "r2 a 3", "r1 a 4", "r3 b 6"},
	} {
		p.list(query).shows(want...)
	}
}

// APD-01, ERR-03: neither id, too many, and what is wrong with the rest.
func TestListRefuses(t *testing.T) {
	t.Parallel()
	p := newAPI(t).connected()
	for _, query := range []string{"", "resourceId=", "resourceIds=", "resourceIds=,,", "resourceid=r1", "resourceType=invoice", "key=a&resourceId="} {
		p.list(query).refused(http.StatusBadRequest, codes.ProvideResourceIDs.Code)
	}
	for _, query := range []string{
		"resourceIds=" + ids(51), "resourceId=x&resourceIds=" + ids(50), "resourceIds=" + ids(25) + "&resourceIds=x" + strings.ReplaceAll(ids(26), ",", ",x"),
		"resourceIds=" + ids(2000),
		// Repeated ids count as often as they are sent.
		"resourceId=r7&resourceIds=r7,,r7," + ids(48), "resourceIds=r1" + strings.Repeat(",r1", 50), "resourceId=r1&resourceIds=" + ids(50),
	} {
		p.list(query).refused(http.StatusBadRequest, codes.TooManyResourceIDs.Code)
	}
	const (
		types = "resourceType must be one of account, customer, invoice, journal_entry, payment, supplier"
		form  = "resourceId and resourceIds must be ids of at most 256 characters, in UTF-8 and without NUL"
		key   = "key is not one that a field can have"
	)
	for query, want := range map[string][]string{
		"resourceId=%zz":                              {"the query is not well-formed"},
		"resourceId=a;b":                              {"the query is not well-formed"},
		"resourceId=a&resourceId=b":                   {"resourceId must be given once"},
		"resourceId=a&resourceType=Invoice":           {types},
		"resourceId=a&resourceType=":                  {types},
		"resourceId=a&resourceType=%00":               {types},
		"resourceId=a&key=":                           {key},
		"resourceId=a&key=%ff":                        {key},
		"resourceId=%00":                              {form},
		"resourceIds=a,%ff":                           {form},
		"resourceIds=" + strings.Repeat("x", 257):     {form},
		"resourceId=" + url.QueryEscape("a\x00,b"):    {form},
		"resourceId=%00&key=+&resourceType=x":         {form, types, key},
		"resourceId=a&key=a&key=b&resourceType=&a=1":  {"key must be given once", types},
		"resourceId=a&resourceType=x&resourceType=y":  {"resourceType must be given once", types},
		"resourceIds=a&resourceId=b&resourceId=b&x=y": {"resourceId must be given once"},
	} {
		p.list(query).invalid(want...)
	}
}

// APD-01, API-02, API-08: only the app's own values in the token's business.
func TestValuesBelongToAppAndBusiness(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	p, other := k.connected(), k.connected()
	elsewhere := connected{k, p.app, k.Connect(p.app, "biz_2", allScopes)}
	for _, who := range []connected{p, other} {
		who.declare(who.app, `{"resourceType":"invoice","key":"a","type":"NUMBER"}`)
	}
	mine := p.put(on("r1", "a", "1")).values()[0]
	theirs, there := other.put(on("r1", "a", "2")).values()[0], elsewhere.put(on("r1", "a", "3")).values()[0]
	p.list("resourceId=r1&businessId=biz_2").shows("r1 a 1")
	other.list("resourceId=r1").shows("r1 a 2")
	elsewhere.list("resourceId=r1").shows("r1 a 3")
	// APD-05.
	for name, valueID := range map[string]string{"another app's": theirs.ID, "another business's": there.ID, "none": id.New(id.AppDataValue, harness.Start), "other kind": id.New(id.Event, harness.Start), "short": "adv_1", "upper": strings.ToUpper(mine.ID)} {
		t.Log(name)
		p.call("DELETE /app-data/"+valueID, "").refused(http.StatusNotFound, codes.AppDataValueNotFound.Code)
	}
	if a := p.call("DELETE /app-data/"+mine.ID, ""); a.Status != http.StatusNoContent {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	p.call("DELETE /app-data/"+mine.ID, "").refused(http.StatusNotFound, codes.AppDataValueNotFound.Code)
	p.list("resourceId=r1").shows()
	other.list("resourceId=r1").shows("r1 a 2")
	elsewhere.list("resourceId=r1").shows("r1 a 3")
}

// APD-04: the read scope counts, of the token, of the installation and of the app.
func TestAccess(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	app := k.NewApp(allScopes)
	all := connected{k, app, k.Connect(app, "biz_1", allScopes)}
	narrow := connected{k, app, k.Connect(app, "biz_1", identity.MustScopes("invoices:read"))} // the installation has more
	all.declare(app, `{"resourceType":"invoice","key":"a","type":"NUMBER"}`)
	all.declare(app, `{"resourceType":"customer","key":"a","type":"NUMBER"}`)
	all.declare(app, `{"resourceType":"supplier","key":"a","type":"NUMBER"}`)
	const customer = `{"resourceType":"customer","resourceId":"r1","key":"a","value":2}`
	value := all.put(on("r1", "a", "1"), customer).values()[1]
	wantNone := func(p connected) {
		t.Helper()
		p.list("resourceId=r1").shows("r1 a 1") // left out
		p.list("resourceId=r1&key=a").shows("r1 a 1")
		p.list("resourceId=r1&resourceType=invoice").shows("r1 a 1")
		if got := p.list("resourceId=r1&resourceType=customer").refused(http.StatusForbidden, codes.AppCannotAccessType.Code); got.Params["p0"] != "customer" {
			t.Errorf("%+v", got)
		}
		p.put(customer).refused(http.StatusForbidden, codes.AppCannotAccessType.Code)
		p.put(on("r1", "a", "1"), customer).refused(http.StatusForbidden, codes.AppCannotAccessType.Code)
		p.call("DELETE /app-data/"+value.ID, "").refused(http.StatusForbidden, codes.AppCannotAccessType.Code)
	}
	wantNone(narrow)
	all.list("resourceId=r1").shows("r1 a 1", "r1 a 2")
	all.list("resourceId=r1&resourceType=supplier").refused(http.StatusForbidden, codes.AppCannotAccessType.Code) // no scope of the app's
	k.Clock.Advance(time.Minute)
	k.Must(k.OAuth.SetInstallationScopes(t.Context(), app.ID, "biz_1", identity.MustScopes("invoices:read", "events:read")))
	wantNone(all)
	k.Must(k.OAuth.SetInstallationScopes(t.Context(), app.ID, "biz_1", allScopes))
	all.list("resourceId=r1").shows("r1 a 1", "r1 a 2")
	all.put(`{"resourceType":"customer","resourceId":"r1","key":"a","value":3}`).values()
}

// API-06, ERR-03: people have no app data; nor where a host lets them in.
func TestSessions(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	nobody := connected{api: k}
	for _, call := range []string{"GET /app-data?resourceId=r1", "PUT /app-data", "DELETE /app-data/adv_1", "GET /open?resourceId=r1", "PUT /open", "DELETE /open/adv_1"} {
		nobody.call(call, "", "Cookie", k.Host.NewSession(partnertest.User, "biz_1").String()).refused(http.StatusForbidden, codes.AppDataForConnectedApps.Code)
		if a := nobody.call(call, ""); a.Status != http.StatusUnauthorized {
			t.Errorf("%s without credentials: %d", call, a.Status)
		}
	}
}

// A host's own types and scopes.
func TestTypes(t *testing.T) {
	t.Parallel()
	types := map[string]string{"parcel": "invoices:read", "fleet": "fleet:read"}
	p := newAPI(t, withTypes(types)).connected()
	types["invoice"] = "invoices:read" // has no effect: the configuration was copied
	p.declare(p.app, `{"resourceType":"parcel","key":"a","type":"NUMBER"}`)
	p.declare(p.app, `{"resourceType":"fleet","key":"a","type":"NUMBER"}`)
	p.put(`{"resourceType":"parcel","resourceId":"p1","key":"a","value":1}`).shows("p1 a 1")
	p.put(`{"resourceType":"fleet","resourceId":"p1","key":"a","value":1}`).refused(http.StatusForbidden, codes.AppCannotAccessType.Code)
	p.put(on("p1", "a", "1")).invalid("values[0].resourceType must be one of fleet, parcel")
}
