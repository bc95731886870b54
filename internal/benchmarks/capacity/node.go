package capacity

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/ratelimit"
	"github.com/partnerkit/partnerkit/ratelimit/redislimit"
	"github.com/partnerkit/partnerkit/storage/postgres"
	"github.com/partnerkit/partnerkit/storage/sqlite"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
	"github.com/partnerkit/partnerkit/webhooks"
)

// nodeVar holds the settings of a process that is a node.
const nodeVar = "PARTNERKIT_BENCH_NODE"

// settings of a node, as JSON.
type settings struct{ SQLite, Postgres, Schema, Redis string }

// IsNode reports whether this process was started as a node.
func IsNode() bool { return os.Getenv(nodeVar) != "" }

// ServeNode serves a node until its standard input ends. It prints its address.
func ServeNode() error {
	var s settings
	if err := json.Unmarshal([]byte(os.Getenv(nodeVar)), &s); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	store, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	platform, err := s.platform(ctx, store)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	failed := make(chan error, 3)
	server := &http.Server{Handler: platform.API(), ReadHeaderTimeout: time.Minute}
	go func() { failed <- server.Serve(listener) }()
	go func() { failed <- platform.Run(ctx) }()
	go func() {
		_, err := io.Copy(io.Discard, os.Stdin)
		failed <- err
	}()
	fmt.Println(listener.Addr())
	return errors.Join(<-failed, server.Close())
}

func (s settings) open(ctx context.Context) (*sqlstore.Store, error) {
	if s.SQLite != "" {
		return sqlite.Open(ctx, sqlite.Config{Path: s.SQLite})
	}
	return postgres.Open(ctx, s.Postgres, postgres.Config{Schema: s.Schema, MaxConns: 20})
}

// platform has two routes, and limits that the load does not reach. They are counted as
// lower ones would be.
func (s settings) platform(ctx context.Context, store *sqlstore.Store) (*partnerkit.Platform, error) {
	many := ratelimit.PerMinute(100_000_000)
	var (
		platform *partnerkit.Platform
		limiter  ratelimit.Limiter
	)
	if s.Redis != "" {
		options, err := redis.ParseURL(s.Redis)
		if err != nil {
			return nil, err
		}
		options.ContextTimeoutEnabled, options.MaxRetries = true, -1
		if limiter, err = redislimit.New(redislimit.Config{Client: redis.NewClient(options), Prefix: s.Schema + ":", Timeout: time.Second}); err != nil {
			return nil, err
		}
	}
	platform, err := partnerkit.New(partnerkit.Config{
		Store: store, Host: fixture.OpenHost{}, Keyring: fixture.Keyring(0),
		APIURL: "https://api.example.com", AppURL: "https://app.example.com", Limiter: limiter,
		Limits: ratelimit.Limits{
			PerBusiness: many, PerApp: many, OAuthWithSecret: many, OAuthWithoutSecret: many, OAuthPerIP: many, OAuthPerClient: many, DefaultPerIP: many,
		},
		Webhooks: webhooks.Options{AllowLoopback: true},
		Routes: []guard.Route{
			{Pattern: "GET /items", Scope: scope, Handler: func(w http.ResponseWriter, r *http.Request) error {
				caller, _ := identity.PrincipalFrom(r.Context())
				return apierror.WriteJSON(w, http.StatusOK, map[string]string{"itemsOf": caller.BusinessID})
			}},
			{Pattern: "POST /items", Scope: scope, Handler: func(w http.ResponseWriter, r *http.Request) error {
				caller, _ := identity.PrincipalFrom(r.Context())
				if err := record(r.Context(), store, platform.Events(), caller.BusinessID); err != nil {
					return err
				}
				platform.Wake()
				return apierror.WriteJSON(w, http.StatusCreated, map[string]string{})
			}},
		},
	})
	return platform, err
}

var eventData = json.RawMessage(`{"text":"` + strings.Repeat("x", 700) + `"}`)

// record records one event in a transaction, as a host does with a change of its own.
func record(ctx context.Context, store *sqlstore.Store, log *events.Log, business string) error {
	tx, err := store.BeginTx(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := log.RecordIn(ctx, tx, events.Draft{Type: eventType, BusinessID: business, Data: eventData}); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// node is a process.
type node struct {
	command *exec.Cmd
	input   io.Closer
	url     string
}

// startNode starts this program again, as a node.
func startNode(s settings) (*node, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	n := &node{command: exec.Command(path)}
	n.command.Env, n.command.Stderr = append(os.Environ(), nodeVar+"="+string(text)), os.Stderr
	if n.input, err = n.command.StdinPipe(); err != nil {
		return nil, err
	}
	output, err := n.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := n.command.Start(); err != nil {
		return nil, err
	}
	address, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		n.stop()
		return nil, fmt.Errorf("start a node: %w", err)
	}
	n.url = "http://" + strings.TrimSpace(address)
	return n, nil
}

// stop ends the process and waits for it.
func (n *node) stop() {
	_ = n.input.Close()
	_ = n.command.Wait() // its server was closed, which is an error
}

// memory returns the most memory that the process had so far, in bytes.
func (n *node) memory() (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", n.command.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	text, _, found := strings.Cut(rest, "kB")
	if !found {
		return 0, errors.New("the system does not say how much memory a process has")
	}
	kilobytes, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	return kilobytes << 10, err
}
