package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// errUsage marks what is wrong with the command line.
var errUsage = errors.New("usage")

// options default to the demo of the reference server.
type options struct {
	api, addr, url         string
	clientID, clientSecret string
	webhookSecret          string
	data                   string
	email, password        string
	business               string
	browser, disconnect    bool
}

func parseOptions(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("partner", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.api, "api", "http://localhost:8080", "`URL` of the API host")
	flags.StringVar(&o.addr, "addr", "localhost:9090", "`address` to listen on")
	flags.StringVar(&o.url, "url", "", "public `URL` of this app; /callback and /webhooks below it are registered (default from -addr)")
	flags.StringVar(&o.clientID, "client-id", "ledgerlink-sync", "the app's `id`")
	flags.StringVar(&o.clientSecret, "client-secret", "demo-secret-ledgerlink-sync", "its `secret` (PARTNER_CLIENT_SECRET)")
	flags.StringVar(&o.webhookSecret, "webhook-secret", "whsec_demo_ledgerlink_sync", "its webhook's `secret` (PARTNER_WEBHOOK_SECRET)")
	flags.StringVar(&o.data, "data", "partner-data", "`folder` for the tokens and the inbox")
	flags.StringVar(&o.email, "email", "ada@example.com", "who signs in, unless -browser")
	flags.StringVar(&o.password, "password", "demo-ada", "their password")
	flags.StringVar(&o.business, "business", "biz_bakery", "`id` of the business that they connect")
	flags.BoolVar(&o.browser, "browser", false, "wait for a person with a browser instead of signing in")
	flags.BoolVar(&o.disconnect, "disconnect", false, "give all access back at the end")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return o, err
		}
		return o, fmt.Errorf("%w: %w", errUsage, err)
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("%w: %q is no flag", errUsage, flags.Arg(0))
	}
	o.fromEnvironment(flags)
	if o.url == "" {
		o.url = "http://" + o.addr
	}
	o.api, o.url = strings.TrimSuffix(o.api, "/"), strings.TrimSuffix(o.url, "/")
	return o, nil
}

// fromEnvironment reads secrets from the environment, where secrets other than the demo's belong.
// A flag that was given comes first.
func (o *options) fromEnvironment(flags *flag.FlagSet) {
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if secret := os.Getenv("PARTNER_CLIENT_SECRET"); secret != "" && !given["client-secret"] {
		o.clientSecret = secret
	}
	if secret := os.Getenv("PARTNER_WEBHOOK_SECRET"); secret != "" && !given["webhook-secret"] {
		o.webhookSecret = secret
	}
}
