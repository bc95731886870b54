package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"
	"unicode"

	"github.com/partnerkit/partnerkit/examples/listen/listener"
)

// run is the whole program: it triggers one event, or listens until ctx ends.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parseOptions(args, stderr)
	if err != nil {
		return err
	}
	o.Logger = slog.New(slog.NewTextHandler(stderr, nil))
	if o.trigger != "" {
		return trigger(ctx, o, stdout)
	}
	l, err := listener.Start(ctx, o.Config)
	if err != nil {
		return err
	}
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(stdout, format+"\n", args...) }
	say("Listening at %s, signed with %s", l.URL(), printable(l.Secret()))
	for {
		select {
		case d := <-l.Deliveries():
			say("%s", line(d))
		case <-ctx.Done():
			if err := l.Close(); err != nil {
				return err
			}
			for d := range l.Deliveries() { // came while it closed
				say("%s", line(d))
			}
			say("Removed the webhook.")
			return nil
		}
	}
}

// line formats a delivery in one line: the time, the type and id of the event, the business,
// the id of the delivery, the status of the response and the data.
func line(d listener.Delivery) string {
	event := d.EventID
	if d.IsTest() {
		event = "test"
	}
	return printable(fmt.Sprintf("%s  %-22s %s  %s  %s  answered %d  %s",
		time.Unix(d.Created, 0).UTC().Format(time.RFC3339), d.Type, event, d.BusinessID, d.ID, d.Status, d.Data))
}

// printable is text from elsewhere without what would steer a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

func trigger(ctx context.Context, o options, stdout io.Writer) error {
	id, err := listener.Trigger(ctx, o.Config, listener.Occurrence{BusinessID: o.business, Type: o.trigger})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s happened in %s: %s. Events of a business reach the apps that it has connected with the event's scope.\n", o.trigger, o.business, printable(id))
	return err
}
