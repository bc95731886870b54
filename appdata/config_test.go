package appdata_test

import (
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/internal/testdb"
)

func withTypes(types map[string]string) func(*appdata.Config) {
	return func(c *appdata.Config) { c.Types = types }
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	store := testdb.NewEnv(t, testdb.SQLite)
	for want, change := range map[string]func(*appdata.Config){
		"Config.Store is nil":                func(c *appdata.Config) { c.Store = nil },
		"Config.Records is nil":              func(c *appdata.Config) { c.Records = nil },
		`Config.Types: "": a type`:           withTypes(map[string]string{"": "a:read"}),
		`Config.Types: "Invoice": a type`:    withTypes(map[string]string{"Invoice": "a:read"}),
		`Config.Types: "invoice": it needs`:  withTypes(map[string]string{"invoice": ""}),
		`Config.Types: "customer": it needs`: withTypes(map[string]string{"customer": "a:read b:read"}),
	} {
		cfg := appdata.Config{Store: store, Records: &records{}}
		change(&cfg)
		if _, err := appdata.New(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := appdata.New(appdata.Config{Store: store, Records: &records{}}); err != nil {
		t.Error(err)
	}
}
