package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"go.opentelemetry.io/otel/metric"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/console/jscheck"
	"github.com/partnerkit/partnerkit/ratelimit"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlite"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// Main is the main function of a host's sandbox: it reads the flags and serves until the
// process is asked to stop. configure puts the host's backend into the configuration. See
// [Program.Configure].
func Main(configure func(*partnerkit.Config) error) { Program{Configure: configure}.Main() }

// Program is a sandbox with more than the default settings. Configure is required.
type Program struct {
	Name     string // in its usage; empty: "sandbox"
	Database string // the default of -db; empty: a database in memory
	// Fixtures are the default of -fixtures, and public: the greeting shows their sign-ins.
	// Nil: one developer with a business, a sandbox business and an app with all scopes.
	Fixtures []byte
	// Description is an OpenAPI document in YAML, or a part of one, that is added to the API
	// description, for what the host serves beside Config.Routes. Its addresses are written
	// as http://localhost:8080 and http://localhost:8081.
	Description string
	// Flags adds flags of the host. Nil: none.
	Flags func(*flag.FlagSet)
	// Check reports a mistake in the flags of the host, before anything is opened. Nil: there
	// is none.
	Check func(Settings) error
	// OpenStore opens a database other than SQLite, by the URL in -db. Nil: such a URL is a
	// mistake in the flags. Check has not rejected the URL.
	OpenStore func(ctx context.Context, url string, log *slog.Logger) (*sqlstore.Store, error)
	// OpenLimiter opens the limiter that the flags of the host ask for, which is closed at the
	// end. A nil limiter, or a nil function: limits are counted in memory.
	OpenLimiter func(context.Context, *slog.Logger, metric.MeterProvider) (ratelimit.Limiter, io.Closer, error)
	// Configure puts the host's backend into the configuration: Host, Routes, Service and
	// whatever else the host sets. It is called once, before anything is served. Store, Clock,
	// Keyring, Limiter, Logger, MeterProvider, Proxies, APIURL and AppURL are set and must
	// remain as they are; Store is the database of -db, in which the backend can have tables
	// of its own, and a *sqlstore.Store. Console.MoveClock is set in development mode only. The flags
	// are applied to the configuration afterwards.
	//
	// A Host with the method Connect(*partnerkit.Platform) gets the platform before
	// anything is served. A Host that implements [People] keeps the people of the fixtures.
	Configure func(*partnerkit.Config) error
}

// People is an optional interface of a Config.Host that keeps the people and businesses of
// the fixtures itself, with sign-in pages and permissions of its own. Such a program can run
// outside development mode too. For other hosts the sandbox keeps them, in memory, and asks
// the host about everybody else.
type People interface {
	// Origin returns the origin of the data of the database, as it was given to Fill; empty if
	// the database is empty.
	Origin(ctx context.Context) (string, error)
	// Fill loads fixtures into an empty database, in one transaction, in which it calls apps.
	// Filled is false when the database was not empty; apps is not called then. When several
	// processes start together, exactly one fills the database.
	Fill(ctx context.Context, origin string, fixtures json.RawMessage, apps func(storage.Tx) error) (filled bool, err error)
	// StartSession signs a user in and returns the cookie of the session. An empty business
	// means no business.
	StartSession(r *http.Request, userID, businessID string) (*http.Cookie, error)
	HasUser(ctx context.Context, userID string) (bool, error)
	HasBusiness(ctx context.Context, businessID string) (bool, error)
	// SetRole makes a user a member of a business, or changes the member's role: owner, admin
	// or member. An empty role ends the membership.
	SetRole(ctx context.Context, businessID, userID, role string) error
	// SetPermissions replaces the permissions that a member has by the role; nil puts them
	// back. It returns partner.ErrNotFound if the user is not a member.
	SetPermissions(ctx context.Context, businessID, userID string, permissions []string) error
	// FirstOrganization returns the organization of apps that are registered without a
	// token; empty: there is none.
	FirstOrganization(ctx context.Context) (string, error)
}

// checkFunction is the only argument of the processes that check uploaded functions.
const checkFunction = "check-function"

// newFunctionChecker checks uploaded functions in processes of this program.
func newFunctionChecker() (*jscheck.Checker, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return jscheck.New(jscheck.Config{Command: []string{program, checkFunction}})
}

// Main reads the flags from the command line and serves until the process is asked to stop.
// It exits with 0 then, with 2 after a mistake in the flags, and with 1 after any other
// error.
func (p Program) Main() { os.Exit(p.exitCode()) }

func (p Program) exitCode() int {
	p = p.withDefaults()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // who asks twice does not want to wait
	var err error
	if len(os.Args) == 2 && os.Args[1] == checkFunction {
		err = jscheck.Main(os.Stdin, os.Stdout)
	} else {
		err = p.Run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	}
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return 0 // asked to stop before it was ready
	case errors.Is(err, errUsage):
		_, _ = fmt.Fprintf(os.Stderr, "%s: %v\n", p.Name, err)
		return 2
	}
	_, _ = fmt.Fprintf(os.Stderr, "%s: %v\n", p.Name, err)
	return 1
}

func (p Program) withDefaults() Program {
	if p.Name == "" {
		p.Name = "sandbox"
	}
	if p.Database == "" {
		p.Database = sqlite.Memory
	}
	return p
}

// Run is [Program.Main] with its surroundings as arguments, for tests: it serves until ctx
// ends, and then returns nil. Nothing but the ready line is written to stdout.
func (p Program) Run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	p = p.withDefaults()
	o, err := p.parseOptions(args, getenv, stderr)
	if err != nil {
		return err
	}
	return p.run(ctx, o, stdout, stderr)
}
