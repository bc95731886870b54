package sandbox

import (
	"errors"
	"flag"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// parse reads the flags of the reference server.
func parse(args []string, getenv func(string) string, stderr io.Writer) (options, error) {
	return Program{Name: "server", Database: "partnerkit.db"}.parseOptions(args, getenv, stderr)
}

func env(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

func TestOptionsComeFromFlagsAndEnvironment(t *testing.T) {
	t.Parallel()
	o, err := parse([]string{"-api", "localhost:1"}, env(map[string]string{
		"PARTNERKIT_API": "localhost:2", "PARTNERKIT_APP": "localhost:3",
		"PARTNERKIT_API_URL": "https://api.example.com", "PARTNERKIT_APP_URL": "https://app.example.com",
		"PARTNERKIT_DB": "x.db", "PARTNERKIT_KEY": "k", "PARTNERKIT_FIXTURES": "f.json",
		"PARTNERKIT_DEV": "false", "PARTNERKIT_METRICS": "localhost:9", "PARTNERKIT_DISABLE_WEBHOOKS_AFTER": "3", "PARTNERKIT_TRUSTED_PROXIES": "10.0.0.0/8, 192.0.2.0/24",
		"PARTNERKIT_AGENTS": "true", "PARTNERKIT_HEED_RECEIVERS": "true", "PARTNERKIT_REFRESH_RETRY": "30m", "PARTNERKIT_MAX_CONNECTIONS": "7", "PARTNERKIT_CUSTOM_CONNECTIONS": "true", "PARTNERKIT_STANDARD_WEBHOOKS": "true", "PARTNERKIT_VERIFY_WEBHOOKS": "true", "PARTNERKIT_TRUSTED_DOCUMENTS": "agent.example, https://a.example/clients",
	}), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{o.api, o.app, o.apiURL, o.appURL, o.db, o.key, o.fixtures, o.metrics}
	want := "localhost:1 localhost:3 https://api.example.com https://app.example.com x.db k f.json localhost:9"
	if strings.Join(got, " ") != want || o.dev == nil || *o.dev || len(o.proxies) != 2 || o.disableAfter != 3 || !o.agents || !o.heedReceivers || !o.custom || o.refreshRetry != 30*time.Minute || o.maxConnections != 7 || !o.standard || !o.verifyWebhooks || len(o.documents) != 2 {
		t.Errorf("options %+v", o)
	}
}

func TestOptionsHaveDefaults(t *testing.T) {
	t.Parallel()
	o, err := parse(nil, env(nil), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if o.api != "localhost:8080" || o.app != "localhost:8081" || o.db != "partnerkit.db" || o.dev != nil || o.agents || o.custom || o.documents != nil {
		t.Errorf("options %+v", o)
	}
	if dev, err := o.development(); err != nil || !dev {
		t.Errorf("development mode by default: %v, %v", dev, err)
	}
}

// -help shows no value from the environment, a key least of all.
func TestHelpKeepsTheKey(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	_, err := parse([]string{"-help"}, env(map[string]string{"PARTNERKIT_KEY": "very-secret"}), &out)
	if !errors.Is(err, flag.ErrHelp) || strings.Contains(out.String(), "very-secret") || !strings.Contains(out.String(), "trusted-proxies") {
		t.Errorf("%v: %s", err, &out)
	}
}

func TestOptionsThatAreWrong(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args []string
		env  map[string]string
		want string
	}{
		{args: []string{"-nothing"}, want: "-nothing"},
		{args: []string{"serve"}, want: `"serve" is not a flag`},
		{args: []string{"-dev=perhaps"}, want: "true or false"},
		{env: map[string]string{"PARTNERKIT_DEV": "perhaps"}, want: "PARTNERKIT_DEV"},
		{args: []string{"-trusted-proxies", "10.0.0.1"}, want: "not a network"},
		{args: []string{"-trusted-proxies", "0.0.0.0/0"}, want: "every client"},
		{args: []string{"-trusted-documents", "agent.example,*.example"}, want: "*.example"},
		{args: []string{"-agents=perhaps"}, want: "agents"},
	} {
		_, err := parse(test.args, env(test.env), io.Discard)
		if !errors.Is(err, errUsage) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v %v: %v, want %q", test.args, test.env, err, test.want)
		}
	}
}

// What is wrong in the flags is refused before anything is opened: the directory of
// the database does not exist.
func TestFlagsAreCheckedFirst_SAND01(t *testing.T) {
	t.Parallel()
	var seen Settings
	host := func(s Settings) error {
		seen = s
		return errors.New("the host objects")
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"-api", "localhost"}, `-api "localhost" is not an address`},
		{[]string{"-api", ":0"}, "set it with -api-url"},
		{[]string{"-app", "0.0.0.0:0"}, "set it with -app-url"},
		{[]string{"-metrics", "9090"}, `-metrics "9090" is not an address`},
		{[]string{"-api-url", "http://api.example.com"}, "-api-url \"http://api.example.com\" must be https"},
		{[]string{"-app-url", "https://app.example.com/path"}, "-app-url \"https://app.example.com/path\" is not an origin"},
		{[]string{"-api-url", "https://one.example", "-app-url", "https://ONE.example:443"}, "must tell the two hosts apart"},
		{[]string{"-refresh-retry", "25h"}, "-refresh-retry 25h0m0s is not between 0 and 24h"},
		{[]string{"-db", "postgres://u:hidden@127.0.0.1:1/x"}, "-db postgres://: this program has no driver"},
		{[]string{"-redis", "redis://127.0.0.1:1"}, "-redis"},
		{[]string{"-api-url", "https://api.example.com"}, "the host objects"},
	} {
		args := append([]string{"-db", "/nowhere/at/all.db", "-key", developmentKey}, test.args...)
		err := Program{Check: host}.Run(t.Context(), args, env(nil), io.Discard, io.Discard)
		if !errors.Is(err, errUsage) || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%v: %v, want %q", test.args, err, test.want)
		}
	}
	if seen.APIHost != "api.example.com" || seen.AppHost != "localhost" || seen.Database != "/nowhere/at/all.db" {
		t.Errorf("settings %+v", seen)
	}
}

// SBX-01: development mode is only where everything is loopback.
func TestDevelopmentMode(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		args    []string
		dev     bool
		refuses bool // when asked for
	}{
		{"defaults", nil, true, false},
		{"loopback addresses", []string{"-api", "127.0.0.1:0", "-app", "[::1]:0"}, true, false},
		{"loopback URLs", []string{"-api-url", "http://localhost:9", "-app-url", "http://127.0.0.1:9"}, true, false},
		{"API on every address", []string{"-api", ":8080"}, false, true},
		{"app on every address", []string{"-app", "0.0.0.0:8081"}, false, true},
		{"mapped address", []string{"-app", "[::ffff:127.0.0.1]:8081"}, false, true},
		{"a name", []string{"-api", "localhost.example.com:8080"}, false, true},
		{"public API URL", []string{"-api-url", "https://api.example.com"}, false, true},
		{"public app URL", []string{"-app-url", "https://app.example.com"}, false, true},
		{"a URL that only looks so", []string{"-api-url", "http://localhost@evil.example"}, false, true},
		{"a trusted proxy", []string{"-trusted-proxies", "127.0.0.0/8"}, false, true},
	} {
		o, err := parse(test.args, env(nil), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if dev, err := o.development(); dev != test.dev || err != nil {
			t.Errorf("%s: %v, %v", test.name, dev, err)
		}
		asked, err := parse(append(test.args, "-dev"), env(nil), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if dev, err := asked.development(); dev == test.refuses || (err != nil) != test.refuses {
			t.Errorf("%s, -dev: %v, %v", test.name, dev, err)
		}
		declined, err := parse(append(test.args, "-dev=false"), env(nil), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if dev, err := declined.development(); dev || err != nil {
			t.Errorf("%s, -dev=false: %v, %v", test.name, dev, err)
		}
	}
}
