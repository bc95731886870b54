package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"strings"
)

// errUsage marks errors in how the program was called.
var errUsage = errors.New("see -help")

// secretVariable is the environment variable with the secret of a confidential app. The
// secret is not a flag because every user of the machine can see the flags of a process.
const secretVariable = "CLIENT_SECRET"

// options are the flags of the program.
type options struct {
	api                    string
	clientID, clientSecret string
	scope                  string
}

func parseOptions(args []string, getenv func(string) string, stderr io.Writer) (options, error) {
	o := options{clientSecret: getenv(secretVariable)}
	flags := flag.NewFlagSet("device", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.api, "api", "http://localhost:8080", "`URL` of the API host")
	flags.StringVar(&o.clientID, "client-id", "ledgerlink-cli", "`id` of the app; the secret of a confidential one comes from $"+secretVariable)
	flags.StringVar(&o.scope, "scope", "profile:read", "`scopes` to ask for, with spaces between them")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return o, err
		}
		return o, fmt.Errorf("%w (%w)", err, errUsage)
	}
	u, err := url.Parse(o.api)
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("%q is not a flag (%w)", flags.Arg(0), errUsage)
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return o, fmt.Errorf("-api must be an http or https URL (%w)", errUsage)
	case o.clientID == "":
		return o, fmt.Errorf("-client-id is empty (%w)", errUsage)
	}
	o.api = strings.TrimSuffix(o.api, "/")
	return o, nil
}
