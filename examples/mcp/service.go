package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"log/slog"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/examples/books"
	"github.com/partnerkit/partnerkit/examples/server/fixtures"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/internal/seed"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/ratelimit"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlite"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
	"github.com/partnerkit/partnerkit/webhooks"
)

// path is the path of the MCP endpoint on the API host.
const path = "/mcp"

// firstScopes are the scopes of the first challenge: an agent begins with reading, and asks
// for more when a tool needs it.
var firstScopes = []string{"invoices:read", "customers:read", "payments:read"}

// settings differ between the program and its tests.
type settings struct {
	APIURL, AppURL string
	Logger         *slog.Logger
	Documents      oauthserver.DocumentConfig // which clients' documents are trusted
	Clock          clock.Clock                // nil: the real time
	Lifetimes      oauthserver.Lifetimes      // zero: the defaults
}

// service is the books, the platform around them and the MCP endpoint.
type service struct {
	store    *sqlstore.Store
	books    *books.Books
	platform *partnerkit.Platform
	tools    tools
	server   *mcp.Server
	endpoint http.Handler // of the MCP SDK
}

func open(ctx context.Context, o settings) (_ *service, err error) {
	s := &service{}
	defer func() {
		if err != nil && s.store != nil {
			err = errors.Join(err, s.store.Close())
		}
	}()
	o.Clock = clock.From(o.Clock)
	if s.store, err = sqlite.Open(ctx, sqlite.Config{Path: sqlite.Memory, Logger: o.Logger}); err != nil {
		return nil, err
	}
	if s.books, err = books.Open(ctx, s.store, o.Clock); err != nil {
		return nil, err
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	ring, err := keyring.Parse(base64.StdEncoding.EncodeToString(key))
	if err != nil {
		return nil, err
	}
	if err := s.fill(ctx, o, ring); err != nil {
		return nil, err
	}
	if s.tools, err = newTools(s.books.Routes(), s.books.Schemas()); err != nil {
		return nil, err
	}
	return s, s.newPlatform(ctx, o, ring)
}

// fill loads the demo's users and businesses.
func (s *service) fill(ctx context.Context, o settings, ring *keyring.Keyring) error {
	demo, err := fixtures.Data()
	if err != nil {
		return err
	}
	target := seed.Target{
		Store: s.store, Now: o.Clock.Now(),
		Webhooks: webhooks.Config{Keyring: ring, Clock: o.Clock, Options: webhooks.Options{AllowLoopback: true}},
		AppData:  appdata.Config{Records: s.books.Ledger(), Clock: o.Clock},
	}
	_, err = fixtures.Fill(ctx, s.books, fixtures.Source{Origin: demo.Origin, Text: fixtures.Demo, Now: target.Now}, func(tx storage.Tx) error {
		return demo.LoadApps(ctx, tx, target)
	})
	return err
}

// newPlatform puts partnerkit around the books. What makes it an MCP server are the route,
// the resource at its path, and what s.agents changes.
func (s *service) newPlatform(ctx context.Context, o settings, ring *keyring.Keyring) error {
	limiter, err := ratelimit.NewMemory(ratelimit.MemoryConfig{})
	if err != nil {
		return err
	}
	site, err := books.NewSite(books.SiteConfig{
		Books: s.books, APIURL: o.APIURL, AppURL: o.AppURL, Errors: apierror.Writer{Logger: o.Logger, Service: "Books"},
		Limiter: limiter, Clock: o.Clock, Logger: o.Logger,
	})
	if err != nil {
		return err
	}
	s.endpoint = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.server }, &mcp.StreamableHTTPOptions{
		// Without sessions, no caller can take over the session of another caller, and any
		// node can serve any request.
		Stateless: true, JSONResponse: true,
		// Each call has a token, so a page that resolves its name to this machine gains
		// nothing; and a proxy on this machine passes the public name on.
		DisableLocalhostProtection: true,
		MaxRequestBodyBytes:        maxMessage,
		Logger:                     o.Logger,
	})
	s.platform, err = partnerkit.New(partnerkit.Config{
		Store: s.store, Host: site.Host(), Developers: site.Host(), Permissions: s.books, Records: s.books.Ledger(),
		Keyring: ring, Theme: site.Theme(), AppRoutes: site,
		APIURL: o.APIURL, AppURL: o.AppURL, Service: "Books",
		Routes: append(s.books.Routes(), s.routes()...), Schemas: s.books.Schemas(),
		Resources: []oauthserver.Resource{{Path: path, Name: "Books", Scopes: s.tools.scopes()}},
		OAuth:     s.agents(o.Documents),
		Limiter:   limiter, Clock: o.Clock, Lifetimes: o.Lifetimes, Logger: o.Logger,
	})
	if err != nil {
		return err
	}
	site.Connect(s.platform)
	s.server = s.newServer()
	return nil
}

// routes open the MCP endpoint to every token: what a call needs depends on its tool.
func (s *service) routes() []guard.Route {
	paths := []string{path, path + "/{$}"}
	routes := make([]guard.Route, 0, 3*len(paths))
	for _, at := range paths {
		routes = append(routes,
			guard.Route{Pattern: "POST " + at, Scope: guard.AnyScope, ChallengeScopes: firstScopes, ReadOnly: true, Handler: s.serveMCP},
			// Clients ask for a stream of events, and end sessions. They expect a 405 where
			// there are none.
			guard.Route{Pattern: "GET " + at, Scope: guard.AnyScope, ChallengeScopes: firstScopes, Handler: noStream},
			guard.Route{Pattern: "DELETE " + at, Scope: guard.AnyScope, ChallengeScopes: firstScopes, ReadOnly: true, Handler: noStream},
		)
	}
	return routes
}

func noStream(http.ResponseWriter, *http.Request) error {
	return apierror.MethodNotAllowed(http.MethodPost)
}

// agents returns what clients of agents expect of the OAuth server. They bring their own client
// ids: the URL of a document that describes them, or one from registering.
func (s *service) agents(documents oauthserver.DocumentConfig) oauthserver.Options {
	return oauthserver.Options{
		IssuerParameter:           true,
		HideInternalScopes:        true,
		RegisteredScopesAsDefault: true,
		OptionalScope:             true,
		LoopbackPorts:             oauthserver.LoopbackPortsAll,
		PrivateUseSchemes:         []string{"cursor", "vscode", "vscode-insiders"},
		PrivateKeyJWT:             true,
		Documents:                 documents,
		// A client that registers is an unreviewed app of the first organization. It can be
		// connected to that organization's sandboxes only, like one whose document is not
		// trusted.
		Registration: func(r *http.Request) (string, error) { return s.books.FirstOrganization(r.Context()) },
		MaxApps:      10_000,
		Unowned: func(ctx context.Context, _ partner.App, userID string) (string, error) {
			organization, err := s.books.OrganizationOf(ctx, userID)
			if errors.Is(err, books.ErrAbsent) {
				return "", nil
			}
			return organization, err
		},
	}
}

func (s *service) close() error { return s.store.Close() }
