package partnerkit_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/partnertest"
	"github.com/partnerkit/partnerkit/storage/postgres"
	"github.com/partnerkit/partnerkit/storage/sqlite"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
	"github.com/partnerkit/partnerkit/webhooks"
	"github.com/partnerkit/partnerkit/webhooks/signature"
)

// The files of testdata/released are made once, by the code of the release that they are named
// after, and never again:
//
//	go test . -run Released -make-released 0.2.0
//
// It needs pg_dump and a database in PARTNERKIT_TEST_POSTGRES. It adds the release's migrations to
// migrations.sum, and writes a database of each kind with what its tokens and secrets are.
var makeReleased = flag.String("make-released", "", "write testdata/released for this version")

const releasedFolder = "testdata/released"

// OPER-03: a migration that was released never changes: hosts apply them with their own tools,
// which remember what they have applied.
func TestReleasedMigrations(t *testing.T) {
	t.Parallel()
	sums := filepath.Join(releasedFolder, "migrations.sum")
	if *makeReleased != "" {
		var text strings.Builder
		names, err := fs.Glob(sqlstore.Migrations(), "*.sql")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			fmt.Fprintf(&text, "%s  %s\n", sumOfMigration(t, name), name)
		}
		writeReleased(t, sums, []byte(text.String()))
	}
	text, err := os.ReadFile(sums)
	if err != nil {
		t.Fatal(err)
	}
	released := strings.Fields(string(text))
	if len(released) < 2*14 {
		t.Fatalf("%s has only %q", sums, released)
	}
	for i := 0; i < len(released); i += 2 {
		if sum := sumOfMigration(t, released[i+1]); sum != released[i] {
			t.Errorf("%s was released with the sum %s and now has %s: add a migration instead", released[i+1], released[i], sum)
		}
	}
}

func sumOfMigration(t *testing.T, name string) string {
	t.Helper()
	text, err := fs.ReadFile(sqlstore.Migrations(), name)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))
}

// used is what the users of a released database have of it.
type used struct {
	Time                                 time.Time // when it was written
	AppID, ClientID, ClientSecret        string
	Access, Refresh, UsedRefresh         string // tokens
	Code, Verifier, RedirectURI          string // a code that nobody has redeemed
	ConsoleToken                         string
	WebhookSecret, WebhookID, WebhookURL string
	Event                                string // one whose delivery has failed once
	Note                                 string // the response to a write with an Idempotency-Key
	KeyID                                string // of the signing key
}

// released is a database of a release, by name.
type released struct {
	extension string
	open      func(t *testing.T) (*sqlstore.Store, func() []byte) // an empty one, and what reads it back after it was closed
	reopen    func(t *testing.T, dump []byte) *sqlstore.Store
}

var releasedDatabases = map[string]released{
	"sqlite": {
		extension: "sqlite.gz",
		open: func(t *testing.T) (*sqlstore.Store, func() []byte) {
			path := filepath.Join(t.TempDir(), "released.db")
			store, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
			if err != nil {
				t.Fatal(err)
			}
			return store, func() []byte {
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				return text
			}
		},
		reopen: func(t *testing.T, dump []byte) *sqlstore.Store {
			path := filepath.Join(t.TempDir(), "released.db")
			if err := os.WriteFile(path, dump, 0o600); err != nil {
				t.Fatal(err)
			}
			store, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
			if err != nil {
				t.Fatal(err)
			}
			return store
		},
	},
	"postgres": {
		extension: "postgres.gz",
		open: func(t *testing.T) (*sqlstore.Store, func() []byte) {
			address, schema := testenv.Postgres(t)
			store, err := postgres.Open(t.Context(), address, postgres.Config{Schema: schema, MaxConns: 4})
			if err != nil {
				t.Fatal(err)
			}
			return store, func() []byte {
				dump := exec.CommandContext(t.Context(), "pg_dump", "--inserts", "--no-owner", "--schema", schema, address) //nolint:gosec // the test's own words
				text, err := dump.Output()
				if err != nil {
					t.Fatal(err)
				}
				text = regexp.MustCompile(`(?m)^\\.*$`).ReplaceAll(text, nil) // for psql alone
				return bytes.ReplaceAll(text, []byte(schema), []byte("pk_released"))
			}
		},
		reopen: func(t *testing.T, dump []byte) *sqlstore.Store {
			address, schema := testenv.Postgres(t)
			db, err := sql.Open("pgx", address+"&default_query_exec_mode=simple_protocol")
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			db.SetMaxOpenConns(1)
			if _, err := db.ExecContext(t.Context(), strings.ReplaceAll(string(dump), "pk_released", schema)); err != nil {
				t.Fatal(err)
			}
			store, err := postgres.Open(t.Context(), address, postgres.Config{Schema: schema, MaxConns: 4})
			if err != nil {
				t.Fatal(err)
			}
			return store
		},
	},
}

// noteRecords are records of which each exists.
type noteRecords struct{}

func (noteRecords) ExistingRecords(_ context.Context, _ string, asked []appdata.Record) ([]appdata.Record, error) {
	return asked, nil
}

// releasedHarness runs a platform on the store, with the keyring of partnertest, which must not
// change. Its webhooks are sent to the handler, whatever
// their address is.
func releasedHarness(t *testing.T, store *sqlstore.Store, at time.Time, hook http.Handler) *partnertest.Harness {
	t.Helper()
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	receiver := httptest.NewServer(hook)
	t.Cleanup(receiver.Close)
	notes := 0
	return partnertest.New(t, func(c *partnerkit.Config) {
		c.Store, c.Clock, c.Records = store, clock.NewManual(at), noteRecords{}
		c.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, receiver.Listener.Addr().String())
		}
		c.Routes = []guard.Route{{Pattern: "POST /notes", Scope: "invoices:write", Handler: func(w http.ResponseWriter, _ *http.Request) error {
			notes++
			return apierror.WriteJSON(w, http.StatusCreated, map[string]string{"id": fmt.Sprintf("note_%d_%s", notes, t.Name())})
		}}}
	})
}

// send sends a request to the API and returns the response, which has the status.
func sendReleased(t *testing.T, h *partnertest.Harness, want int, method, path, credential, contentType, body string, headers ...string) *partnertest.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, h.APIURL+path, strings.NewReader(body))
	r.Header.Set("Authorization", credential)
	r.Header.Set("Content-Type", contentType)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return partnertest.Serve(t, h.API(), r).Want(want)
}

// token asks the token endpoint.
func (u *used) token(t *testing.T, h *partnertest.Harness, want int, form url.Values) (access, refresh string) {
	t.Helper()
	form.Set("client_id", u.ClientID)
	form.Set("client_secret", u.ClientSecret)
	var tokens struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
	}
	sendReleased(t, h, want, "POST", "/oauth/token", "", "application/x-www-form-urlencoded", form.Encode()).Decode(&tokens)
	return tokens.Access, tokens.Refresh
}

func refreshWith(token string) url.Values {
	return url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}}
}

// makeDatabase uses an empty database as the users of a release do.
func makeDatabase(t *testing.T, store *sqlstore.Store) used {
	dead := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	h := releasedHarness(t, store, time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), dead)
	app := h.Connect(partnertest.ConnectOptions{Name: "Ledger Link", Scopes: []string{"events:read", "invoices:read", "invoices:write"}})
	u := used{AppID: app.ID, ClientID: app.ClientID, ClientSecret: app.ClientSecret, RedirectURI: app.RedirectURI, WebhookURL: "http://hooks.localhost:8090/"}

	signedIn := httptest.NewRequest(http.MethodGet, "/", nil)
	signedIn.AddCookie(h.Host.NewSession(partnertest.User, ""))
	by, err := h.Console().Actor(signedIn)
	if err != nil {
		t.Fatal(err)
	}
	days := 365
	if u.ConsoleToken, _, err = h.Console().CreateToken(t.Context(), by, console.NewToken{Name: "Releases", ExpiresInDays: &days}); err != nil {
		t.Fatal(err)
	}
	hook, secret, err := h.Webhooks().Create(t.Context(), webhooks.NewWebhook{AppID: app.ID, URL: u.WebhookURL, Events: []string{"invoice.paid"}, Verified: true})
	if err != nil {
		t.Fatal(err)
	}
	u.WebhookID, u.WebhookSecret = hook.ID, secret
	u.Event = h.Record(events.Draft{Type: "invoice.paid", Data: json.RawMessage(`{"invoice":{"id":"inv_1"}}`)}).ID
	h.Settle() // the first attempt fails

	sendReleased(t, h, http.StatusCreated, "POST", "/developer/apps/"+app.ID+"/app-data-fields", "Bearer "+u.ConsoleToken, "application/json",
		`{"resourceType":"invoice","key":"syncStatus","type":"TEXT","label":"Sync status"}`)
	access, refresh := app.AccessToken, app.RefreshToken
	sendReleased(t, h, http.StatusOK, "PUT", "/app-data", "Bearer "+access, "application/json",
		`{"values":[{"resourceType":"invoice","resourceId":"inv_1","key":"syncStatus","value":"synced"}]}`)
	u.Note = sendReleased(t, h, http.StatusCreated, "POST", "/notes", "Bearer "+access, "application/json", `{}`, "Idempotency-Key", "once").Body

	// A second connection of the same app has a refresh token that was used.
	second := h.Connect(partnertest.ConnectOptions{App: app})
	u.UsedRefresh = second.RefreshToken
	second.Refresh()
	u.Access, u.Refresh = access, refresh

	u.Verifier = strings.Repeat("v", 43)
	challenge := sha256.Sum256([]byte(u.Verifier))
	u.Code = h.Approve(h.AppURL+"/oauth/authorize?"+url.Values{
		"response_type": {"code"}, "client_id": {app.ClientID}, "redirect_uri": {u.RedirectURI}, "scope": {"invoices:read"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(challenge[:])}, "code_challenge_method": {"S256"},
	}.Encode(), partnertest.User, "").Get("code")
	u.KeyID = keyIDs(t, h)[0]
	u.Time = h.Clock.Now()
	return u
}

// keyIDs returns the ids of the published keys.
func keyIDs(t *testing.T, h *partnertest.Harness) (ids []string) {
	t.Helper()
	var set struct {
		Keys []struct{ Kid string }
	}
	sendReleased(t, h, http.StatusOK, "GET", "/.well-known/jwks.json", "", "", "").Decode(&set)
	for _, key := range set.Keys {
		ids = append(ids, key.Kid)
	}
	if len(ids) == 0 {
		t.Fatal("no key is published")
	}
	return ids
}

// OPER-03: a database that a release wrote is opened, migrated and used by this code, and what
// it gave out stays valid.
func TestReleasedDatabases(t *testing.T) {
	t.Parallel()
	for name, kind := range releasedDatabases {
		if *makeReleased != "" {
			makeReleasedDatabase(t, name, kind)
		}
		found, err := filepath.Glob(filepath.Join(releasedFolder, "*."+kind.extension))
		if err != nil || len(found) == 0 {
			t.Fatalf("no databases of %s in %s: %v", name, releasedFolder, err)
		}
		for _, path := range found {
			t.Run(name+"/"+strings.TrimSuffix(filepath.Base(path), "."+kind.extension), func(t *testing.T) {
				t.Parallel()
				var u used
				text, err := os.ReadFile(strings.TrimSuffix(path, ".gz") + ".json")
				if err != nil {
					t.Fatal(err)
				}
				if err := json.Unmarshal(text, &u); err != nil {
					t.Fatal(err)
				}
				useDatabase(t, kind.reopen(t, unzip(t, path)), u)
			})
		}
	}
}

func makeReleasedDatabase(t *testing.T, name string, kind released) {
	t.Helper()
	store, dump := kind.open(t)
	var u used
	if !t.Run("make "+name, func(t *testing.T) { u = makeDatabase(t, store) }) {
		t.FailNow()
	}
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if _, err := zip.Write(dump()); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(u, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(releasedFolder, *makeReleased+"."+kind.extension)
	writeReleased(t, path, packed.Bytes())
	writeReleased(t, strings.TrimSuffix(path, ".gz")+".json", append(text, '\n'))
}

func writeReleased(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // a folder of the repository
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil { //nolint:gosec // a file of the repository
		t.Fatal(err)
	}
}

func unzip(t *testing.T, path string) []byte {
	t.Helper()
	packed, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	zip, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// useDatabase goes on where the users of the release stopped.
func useDatabase(t *testing.T, store *sqlstore.Store, u used) {
	arrived := make(chan []byte, 10)
	var h *partnertest.Harness
	h = releasedHarness(t, store, u.Time, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		verifier, err := signature.NewVerifier(signature.Config{Secrets: []string{u.WebhookSecret}, Now: h.Clock.Now})
		if err != nil {
			t.Error(err)
		} else if err := verifier.Verify(r.Header.Get(signature.Header), body); err != nil {
			t.Errorf("the delivery: %v", err)
		}
		arrived <- body
	}))
	if ids := keyIDs(t, h); !slices.Contains(ids, u.KeyID) {
		t.Errorf("the keys %q are published, without %s", ids, u.KeyID)
	}

	// Tokens, and what they read and write.
	bearer := "Bearer " + u.Access
	if got := sendReleased(t, h, http.StatusCreated, "POST", "/notes", bearer, "application/json", `{}`, "Idempotency-Key", "once"); got.Body != u.Note {
		t.Errorf("the repeated write gave %s, and before %s", got.Body, u.Note)
	}
	sendReleased(t, h, http.StatusCreated, "POST", "/notes", bearer, "application/json", `{}`)
	for path, want := range map[string]string{"/events": u.Event, "/app-data?resourceType=invoice&resourceId=inv_1": `"synced"`} {
		if got := sendReleased(t, h, http.StatusOK, "GET", path, bearer, "", ""); !strings.Contains(got.Body, want) {
			t.Errorf("%s: %s, want %s", path, got.Body, want)
		}
	}
	access, refresh := u.token(t, h, http.StatusOK, refreshWith(u.Refresh))
	sendReleased(t, h, http.StatusOK, "GET", "/events", "Bearer "+access, "", "")
	u.token(t, h, http.StatusBadRequest, refreshWith(u.UsedRefresh))
	u.token(t, h, http.StatusOK, refreshWith(refresh)) // of another family
	code := url.Values{"grant_type": {"authorization_code"}, "code": {u.Code}, "redirect_uri": {u.RedirectURI}, "code_verifier": {u.Verifier}}
	u.token(t, h, http.StatusOK, code)
	u.token(t, h, http.StatusBadRequest, code)

	// The console, with the token of a script.
	for path, want := range map[string]string{
		"/developer/apps": u.ClientID, "/developer/apps/" + u.AppID + "/app-data-fields": "Sync status",
		"/developer/apps/" + u.AppID + "/webhooks/" + u.WebhookID + "/deliveries": u.Event, "/developer/apps/" + u.AppID + "/audit": "app_data_field.created",
	} {
		if got := sendReleased(t, h, http.StatusOK, "GET", path, "Bearer "+u.ConsoleToken, "", ""); !strings.Contains(got.Body, want) {
			t.Errorf("%s: %s, want %s", path, got.Body, want)
		}
	}

	// The delivery that failed, and one of a new event.
	h.Advance(time.Hour)
	h.Record(events.Draft{Type: "invoice.paid", Data: json.RawMessage(`{"invoice":{"id":"inv_2"}}`)})
	h.Settle()
	for _, want := range []string{u.Event, "inv_2"} {
		select {
		case body := <-arrived:
			if !strings.Contains(string(body), want) {
				t.Errorf("%s arrived, want %s", body, want)
			}
		default:
			t.Errorf("no delivery with %s", want)
		}
	}
}
