package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"
)

// errUsage marks what is wrong with the command line.
var errUsage = errors.New("usage")

type options struct {
	addr    string
	secrets []string
	db      string
	api     string
	token   string
	every   time.Duration
}

// parseOptions reads flags. Secrets are better off in the environment, which other
// users of the machine cannot see.
func parseOptions(args []string, getenv func(string) string, stderr io.Writer) (options, error) {
	var o options
	var secrets string
	flags := flag.NewFlagSet("receiver", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.addr, "addr", "localhost:9090", "`address` to listen on; the webhook's path is /webhooks")
	flags.StringVar(&secrets, "secret", "", "the webhook's `secret`, or the new and the old one with a comma (RECEIVER_SECRET)")
	flags.StringVar(&o.db, "db", "receiver.db", "`file` of the inbox")
	flags.StringVar(&o.api, "api", "", "`URL` of the API host, to fetch what was missed")
	flags.StringVar(&o.token, "token", "", "an access `token` with events:read, for -api (RECEIVER_TOKEN)")
	flags.DurationVar(&o.every, "every", time.Minute, "how often to fetch what was missed")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return o, err
		}
		return o, fmt.Errorf("%w: %w", errUsage, err)
	}
	if secrets == "" {
		secrets = getenv("RECEIVER_SECRET")
	}
	if o.token == "" {
		o.token = getenv("RECEIVER_TOKEN")
	}
	for secret := range strings.SplitSeq(secrets, ",") {
		if secret = strings.TrimSpace(secret); secret != "" {
			o.secrets = append(o.secrets, secret)
		}
	}
	o.api = strings.TrimSuffix(o.api, "/")
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("%w: %q is no flag", errUsage, flags.Arg(0))
	case len(o.secrets) == 0:
		return o, fmt.Errorf("%w: -secret, or RECEIVER_SECRET, is missing: the webhook's, whsec_…", errUsage)
	case o.token != "" && o.api == "":
		return o, fmt.Errorf("%w: a token without -api", errUsage)
	case o.every <= 0:
		return o, fmt.Errorf("%w: -every must be above 0", errUsage)
	}
	return o, nil
}
