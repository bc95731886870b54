package sandbox

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// errUsage marks errors in how the server was called.
var errUsage = errors.New("see -help")

// options are the flags, as they were given or by default.
type options struct {
	api, app       string
	apiURL, appURL string
	db             string
	key            string
	fixtures       string
	dev            *bool  // nil: by what is loopback
	metrics        string // empty: not served
	disableAfter   int    // days; 0: never
	proxies        []netip.Prefix
	agents         bool
	custom         bool // custom connections
	heedReceivers  bool
	verifyWebhooks bool
	refreshRetry   time.Duration
	maxConnections int
	standard       bool     // the headers of Standard Webhooks too
	documents      []string // hosts and URLs whose client metadata documents count as reviewed
}

// parseOptions reads flags, and environment variables for those not given:
// PARTNERKIT_API_URL for -api-url.
func (p Program) parseOptions(args []string, getenv func(string) string, stderr io.Writer) (options, error) {
	var o options
	flags := o.flags(p, stderr)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return o, err
		}
		return o, usage(err)
	}
	if flags.NArg() > 0 {
		return o, usage(fmt.Errorf("%q is not a flag", flags.Arg(0)))
	}
	given := make(map[string]bool)
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	var problems []error
	flags.VisitAll(func(f *flag.Flag) {
		name := variable(f.Name)
		value := getenv(name)
		if given[f.Name] || value == "" {
			return
		}
		if err := f.Value.Set(value); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", name, err))
		}
	})
	if err := errors.Join(problems...); err != nil {
		return o, usage(err)
	}
	return o, nil
}

func usage(err error) error { return fmt.Errorf("%w (%w)", err, errUsage) }

// variable returns the environment variable of a flag.
func variable(flag string) string {
	return "PARTNERKIT_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

func (o *options) flags(p Program, stderr io.Writer) *flag.FlagSet {
	usageOfDB := "an SQLite `file`, or :memory:"
	if p.OpenStore != nil {
		usageOfDB = "an SQLite `file`, :memory:, or the URL of a database server"
	}
	flags := flag.NewFlagSet(p.Name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.api, "api", "localhost:8080", "`address` of the API host; port 0 picks one")
	flags.StringVar(&o.app, "app", "localhost:8081", "`address` of the app host")
	flags.StringVar(&o.apiURL, "api-url", "", "public `URL` of the API host, when a proxy stands in front")
	flags.StringVar(&o.appURL, "app-url", "", "public `URL` of the app host, when a proxy stands in front")
	flags.StringVar(&o.db, "db", p.Database, usageOfDB)
	flags.StringVar(&o.key, "key", "", "base64 of 32 bytes that seal secrets and signing keys; several, separated by commas, to rotate; required outside development mode")
	flags.StringVar(&o.fixtures, "fixtures", "", "JSON `file` with data for an empty database (default: the data of the program)")
	flags.BoolFunc("dev", "development mode (default: when both listeners and both public URLs are loopback and no proxy is trusted)", func(text string) error {
		on, err := strconv.ParseBool(text)
		if err != nil {
			return errors.New("want true or false")
		}
		o.dev = &on
		return nil
	})
	flags.StringVar(&o.metrics, "metrics", "", "`address` of a listener of its own for Prometheus, which serves GET /metrics (default: none)")
	flags.Func("disable-webhooks-after", "`days` after which a webhook that only failed is switched off; 0 means never (default 0)", func(text string) (err error) {
		if o.disableAfter, err = strconv.Atoi(text); err != nil || o.disableAfter < 0 || o.disableAfter > 3650 {
			return errors.New("want a number of days, from 0 to 3650")
		}
		return nil
	})
	flags.BoolVar(&o.custom, "custom-connections", false, "apps can act for one business that approved them, without a person: custom connections and their installation tokens")
	flags.DurationVar(&o.refreshRetry, "refresh-retry", 0, "how `long` a client may repeat a refresh whose response it lost, as 30s or 30m, at most 24h")
	flags.Func("max-connections", "to how `many` businesses an app may be connected; 0 means any number (default 0)", func(text string) (err error) {
		if o.maxConnections, err = strconv.Atoi(text); err != nil || o.maxConnections < 0 {
			return errors.New("want a number of businesses, 0 or more")
		}
		return nil
	})
	flags.BoolVar(&o.standard, "standard-webhooks", false, "the headers of Standard Webhooks too")
	flags.BoolVar(&o.verifyWebhooks, "verify-webhooks", false, "a webhook gets nothing until its endpoint has answered a challenge")
	flags.BoolVar(&o.heedReceivers, "heed-receivers", false, "410 and Retry-After of receivers count: 410 switches a webhook off, and Retry-After puts the next attempt off")
	flags.Func("trusted-proxies", "`CIDRs`, separated by commas, whose X-Forwarded-For is believed", o.addProxies)
	flags.BoolVar(&o.agents, "agents", false, "what clients of AI agents expect beyond the standard behaviour; see docs/embedding.md")
	flags.Func("trusted-documents", "`hosts` or https URLs, separated by commas, whose client metadata documents count as reviewed", o.addDocuments)
	if p.Flags != nil {
		p.Flags(flags)
	}
	flags.Usage = func() {
		_, _ = fmt.Fprintln(stderr, "Usage: "+p.Name+" [flags]\n\nEach flag has an environment variable too: PARTNERKIT_API for -api, PARTNERKIT_API_URL for -api-url.")
		flags.PrintDefaults()
	}
	return flags
}

func (o *options) addDocuments(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		o.documents = append(o.documents, strings.TrimSpace(part))
	}
	_, err := oauthserver.TrustDocuments(o.documents...)
	return err
}

func (o *options) addProxies(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		prefix, err := netip.ParsePrefix(strings.TrimSpace(part))
		if err != nil {
			return fmt.Errorf("%q is not a network like 10.0.0.0/8", part)
		}
		o.proxies = append(o.proxies, prefix)
	}
	_, err := ratelimit.NewProxies(o.proxies)
	return err
}
