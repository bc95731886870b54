package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/partnerkit/partnerkit/examples/listen/listener"
)

// errUsage marks errors in how the program was called.
var errUsage = errors.New("see -help")

// options are the flags of the program. The defaults are those of the demo.
type options struct {
	listener.Config
	trigger  string // the event; empty: listen
	business string
}

func parseOptions(args []string, stderr io.Writer) (options, error) {
	var o options
	name := "listen"
	if len(args) > 0 && args[0] == "trigger" {
		name, args = "listen trigger", args[1:]
	}
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.API, "api", "http://localhost:8080", "`URL` of the API host")
	flags.StringVar(&o.AppID, "app-id", "", "the app, by its `id`")
	flags.StringVar(&o.ClientID, "client-id", "", "the app, by its client `id` (default ledgerlink-sync)")
	flags.StringVar(&o.UserID, "user", "usr_dev", "`id` of a developer of the app")
	if name == "listen" {
		flags.StringVar(&o.Forward, "forward", "", "`URL` to pass deliveries on to")
		flags.Func("events", "`names` of events, separated by commas (default: all)", func(text string) error {
			o.Events = strings.Split(text, ",")
			return nil
		})
	} else {
		flags.StringVar(&o.business, "business", "biz_bakery", "`id` of the business where it happens")
	}
	flags.Usage = func() {
		_, _ = fmt.Fprintln(stderr, "Usage: listen [flags]\n       listen trigger [flags] EVENT\n\nFlags of", name+":")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return o, err
		}
		return o, fmt.Errorf("%w (%w)", err, errUsage)
	}
	switch {
	case name == "listen" && flags.NArg() > 0:
		return o, fmt.Errorf("%q is not a flag (%w)", flags.Arg(0), errUsage)
	case name != "listen" && flags.NArg() != 1:
		return o, fmt.Errorf("trigger takes the name of one event, after the flags (%w)", errUsage)
	case o.AppID != "" && o.ClientID != "":
		return o, fmt.Errorf("-app-id and -client-id: one is enough (%w)", errUsage)
	case o.AppID == "" && o.ClientID == "":
		o.ClientID = "ledgerlink-sync"
	}
	o.trigger = flags.Arg(0)
	return o, nil
}
