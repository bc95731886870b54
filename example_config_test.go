package partnerkit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// chat posts notifications to a channel.
type chat struct{ channel string }

func (c chat) Notify(_ context.Context, n events.Notification) error {
	fmt.Printf("#%s %s\n", c.channel, n.Text())
	return nil
}

func ExampleConfig_notifier() {
	var cfg partnerkit.Config
	cfg.Notifier = chat{"partners"}
	_ = cfg.Notifier.Notify(context.Background(), events.Notification{Kind: events.NotifyWebhookFailing})
	// Output: #partners A webhook is failing.
}

// frozen is a clock that needs only Now.
type frozen struct{ at time.Time }

func (f frozen) Now() time.Time { return f.at }

func ExampleConfig_clock() {
	var cfg partnerkit.Config
	cfg.Clock = frozen{time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)}
	fmt.Println(cfg.Clock.Now().Format(time.DateOnly))
	// Output: 2026-09-01
}

// plans are what businesses pay for.
type plans map[string]string

func (p plans) HasPermission(_ context.Context, businessID, _ string, permission guard.Permission) (bool, error) {
	return p[businessID] == "paid" || permission != "reports", nil
}

func ExampleConfig_permissions() {
	var cfg partnerkit.Config
	cfg.Permissions = plans{"biz_1": "free"}
	may, err := cfg.Permissions.HasPermission(context.Background(), "biz_1", "usr_1", "reports")
	fmt.Println(may, err)
	// Output: false <nil>
}

// invoices are the records that apps attach data to.
type invoices map[string]bool

func (i invoices) ExistingRecords(_ context.Context, _ string, asked []appdata.Record) (found []appdata.Record, err error) {
	for _, record := range asked {
		if record.ResourceType == "invoice" && i[record.ResourceID] {
			found = append(found, record)
		}
	}
	return found, nil
}

func ExampleConfig_records() {
	var cfg partnerkit.Config
	cfg.Records = invoices{"inv_1": true}
	found, err := cfg.Records.ExistingRecords(context.Background(), "biz_1", []appdata.Record{{ResourceType: "invoice", ResourceID: "inv_2"}})
	fmt.Println(len(found), err)
	// Output: 0 <nil>
}

// developers are the members of partner organizations.
type developers map[string]console.Organization

func (d developers) Session(r *http.Request) (identity.Session, bool, error) {
	cookie, err := r.Cookie("session")
	if err != nil {
		return identity.Session{}, false, nil //nolint:nilerr // no cookie: no user is signed in
	}
	return identity.Session{ID: cookie.Value, UserID: cookie.Value}, true, nil
}

func (d developers) Organizations(_ context.Context, userID string) ([]console.Organization, error) {
	if organization, ok := d[userID]; ok {
		return []console.Organization{organization}, nil
	}
	return nil, nil
}

func ExampleConfig_developers() {
	var cfg partnerkit.Config
	cfg.Developers = developers{"usr_1": {ID: "org_1", Name: "Ledgerlink"}}
	organizations, err := cfg.Developers.Organizations(context.Background(), "usr_1")
	fmt.Println(organizations[0].Name, err)
	// Output: Ledgerlink <nil>
}

// lua accepts functions in Lua.
type lua struct{}

func (lua) CheckFunction(_ context.Context, source string) error {
	if !strings.Contains(source, "function handle(") {
		return &console.SourceError{Reason: "there is no function handle"}
	}
	return nil
}

func ExampleConfig_functionChecker() {
	var cfg partnerkit.Config
	cfg.Console.FunctionChecker = lua{}
	fmt.Println(cfg.Console.FunctionChecker.CheckFunction(context.Background(), "return 1"))
	// Output: there is no function handle
}

// frontEnd renders errors as JSON for a front end of its own; the other pages are the
// default ones.
type frontEnd struct{ pages.Pages }

func (frontEnd) Error(w http.ResponseWriter, _ *http.Request, view pages.ErrorView) error {
	return json.NewEncoder(w).Encode(map[string]string{"message": view.Message})
}

func ExampleConfig_pages() {
	var cfg partnerkit.Config
	cfg.Pages = frontEnd{pages.New()}
	fmt.Println(cfg.Pages != nil)
	// Output: true
}

func ExampleConfig_limits() {
	var cfg partnerkit.Config
	memory, err := ratelimit.NewMemory(ratelimit.MemoryConfig{MaxBytes: 16 << 20})
	if err != nil {
		panic(err)
	}
	cfg.Limiter = memory
	cfg.Limits.PerBusiness = ratelimit.PerMinute(600)
	cfg.Limits.LimitsFor = func(_ context.Context, call ratelimit.Call) (exceptions ratelimit.CallLimits) {
		if call.Pattern == "GET /reports/{year}" {
			exceptions.PerRoute = ratelimit.PerMinute(10)
		}
		return exceptions
	}
	limits := cfg.Limits.WithDefaults()
	of, err := limits.For(context.Background(), ratelimit.Call{AppID: "app_1", Pattern: "GET /reports/{year}"})
	fmt.Println(of.PerBusiness.Count, of.PerRoute.Count, err)
	// Output: 600 10 <nil>
}
