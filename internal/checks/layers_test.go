package checks_test

import (
	"bytes"
	"encoding/json"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/partnerkit/partnerkit"

// floors is the house: a package imports from floors below its own, a package
// inside another's folder may also import that one, and anything else on the same
// floor needs an arrow. The internal packages of a package are on its floor without
// being named; the package and its internal packages may import each other, and its arrows are
// theirs too.
var floors = [][]string{
	0: {"identity", "theme", "locale", "keyring", "clock", "apierror", "optional", "internal/bodies", "internal/strictjson", "internal/muxes", "ratelimit", "ratelimit/redislimit", "ratelimit/limittest", "storage", "webhooks/signature",
		"internal/id", "internal/lifetimes", "internal/oautherror", "internal/stamp", "internal/filelock", "internal/secret", "internal/outbound", "internal/header", "internal/httpapi", "internal/look", "internal/compress", "internal/hostrequest", "internal/requestid", "internal/text", "internal/openapi", "internal/schema", "internal/audited", "internal/testenv", "internal/serving", "internal/codes", "internal/longwindows", "internal/janitor", "internal/samples", "internal/samples/verify", "internal/proof", "internal/proof/table", "internal/proof/fuzz", "internal/logtest", "internal/export", "internal/jsonapi"},
	1: {"partner", "events", "events/eventstore", "events/schemacheck", "analytics", "analytics/callstore", "audit", "idempotency/keystore"},
	2: {"idempotency", "oauthserver", "oauthserver/oauthstore", "oauthserver/pages", "webhooks", "webhooks/webhookstore", "appdata", "appdata/valuestore"},
	3: {"guard", "console", "console/consolestore", "operator", "console/pages", "operator/pages", "console/jscheck", "internal/site", "internal/reference", "internal/fixture"},
	4: {"storage/sqlstore", "storage/sqlite", "storage/postgres"},
	5: {".", "internal/seed", "internal/testdb", "storage/storetest", "internal/racetest", "internal/storetest"},
	6: {"partnertest", "sandbox", "sandbox/servers"},
	7: {"examples/server", "examples/server/fixtures", "examples/server/servertest", "examples/server/servertest/parts", "examples/books", "examples/books/ledger",
		"examples/partner", "examples/partner/client",
		"examples/device", "examples/receiver", "examples/receiver/inbox", "examples/embed", "examples/sandbox", "examples/start", "examples/listen", "examples/listen/listener",
		"internal/grown", "internal/checks", "internal/proofs", "internal/proofs/nodes", "internal/proofs/crash", "internal/proofs/hostile", "internal/proofs/mutants", "internal/proofs/growth", "internal/proofs/plans", "internal/proofs/powerloss", "internal/proofs/steady", "internal/proofs/fresh", "internal/release", "internal/harness", "internal/consoletest"},
}

var arrows = map[string][]string{
	"oauthserver":              {"oauthserver/oauthstore", "oauthserver/pages"}, // what it asks of its store, and what it shows
	"webhooks":                 {"webhooks/webhookstore"},                       // likewise
	"events":                   {"events/eventstore", "partner"},                // likewise, and its records
	"events/eventstore":        {"partner"},
	"theme":                    {"internal/hostrequest", "apierror"},                                              // a theme by request, and the errors of its form
	"internal/hostrequest":     {"identity"},                                                                      // the session of a request
	"internal/openapi":         {"internal/schema"},                                                               // references
	"locale":                   {"internal/hostrequest", "identity"},                                              // a language by request; scopes have descriptions
	"analytics":                {"analytics/callstore"},                                                           // what it asks of its store
	"appdata":                  {"appdata/valuestore"},                                                            // likewise
	"console":                  {"console/consolestore"},                                                          // likewise
	"operator":                 {"console", "console/consolestore"},                                               // listings are reviewed there
	"internal/site":            {"console", "console/consolestore"},                                               // how its listings stand
	"console/pages":            {"internal/site", "console/consolestore"},                                         // what it shares with operator/pages
	"operator/pages":           {"internal/site", "console", "console/consolestore"},                              // what it shares with console/pages; listings
	"internal/reference":       {"internal/site"},                                                                 // the frame of its pages
	"internal/look":            {"theme", "locale", "internal/compress"},                                          // what its pages show, and how files are sent
	"internal/secret":          {"internal/id", "storage"},                                                        // a token carries the id of its record; its digest is what stores keep
	"internal/oautherror":      {"internal/text"},                                                                 // a description is a clipped text
	"apierror":                 {"internal/text", "internal/header", "internal/requestid", "internal/oautherror"}, // paths are checked texts
	"internal/bodies":          {"apierror", "internal/text", "internal/header"},
	"internal/muxes":           {"apierror"},
	"internal/codes":           {"apierror"},
	"internal/janitor":         {"clock", "storage"},
	"internal/longwindows":     {"clock", "ratelimit", "storage", "internal/janitor"},
	"internal/export":          {"internal/stamp"}, // times in JSON
	"internal/jsonapi":         {"apierror", "internal/text"},
	"internal/strictjson":      {"apierror", "internal/text", "internal/bodies"},
	"internal/samples/verify":  {"webhooks/signature"}, // the sample in Go
	"storage/sqlite":           {"storage/sqlstore"},
	"storage/postgres":         {"storage/sqlstore"},
	"internal/storetest":       {".", "internal/testdb"},                       // certifies a partnerkit.Store
	"storage/storetest":        {".", "internal/storetest"},                    // likewise, for authors of stores
	"internal/racetest":        {".", "internal/storetest", "internal/testdb"}, // likewise, with its fixtures
	"examples/server":          {"examples/books", "examples/server/fixtures"}, // the backend that it serves, and its data
	"examples/server/fixtures": {"examples/books", "examples/books/ledger"},    // the people of the demo
	"examples/books":           {"examples/books/ledger"},                      // the records behind its API
	"examples/listen":          {"examples/listen/listener"},                   // the command over the function
	"examples/receiver":        {"examples/receiver/inbox"},
	"examples/partner":         {"examples/partner/client", "examples/receiver/inbox"}, // it takes webhooks too
	"internal/proofs/nodes":    {"examples/server/servertest"},
	"internal/proofs/crash":    {"examples/server/servertest"},
	"internal/proofs/hostile":  {"examples/server/servertest"},
	"internal/proofs/plans":    {"internal/grown"},
}

// forbidden names modules that a package must not pull in, even indirectly.
var forbidden = []struct{ pkg, dep, why string }{
	{".", "modernc.org/sqlite", "the host chooses the store"},
	{".", "github.com/jackc/pgx", "the host chooses the store"},
	{".", "github.com/evanw/esbuild", "the host chooses what checks functions"},
	{".", "github.com/tdewolff", "the host chooses what checks functions"},
	{".", "github.com/dop251/goja", "the host chooses what checks functions"},
	{".", "github.com/santhosh-tekuri/jsonschema", "the host chooses what checks the data of events"},
	{"storage/sqlstore", "github.com/santhosh-tekuri/jsonschema", "the host chooses what checks the data of events"},
	{".", "github.com/redis", "the host chooses the limiter"},
	{".", "go.opentelemetry.io/otel/sdk", "the host chooses what measures"},
	{".", "github.com/prometheus", "the host chooses what measures"},
	{"storage", "github.com/jackc/pgx", "the contract knows no driver"},
	{"storage", "modernc.org/sqlite", "the contract knows no driver"},
	{"ratelimit", "github.com/redis", "a limiter in memory needs no Redis"},
	{"partnertest", "github.com/prometheus", "only a program measures"},
	{"partnertest", "github.com/redis", "a test needs no Redis"},
	{"webhooks/signature", "github.com", "receivers import the standard library only"},
}

type listed struct {
	ImportPath, Dir           string
	Imports, Deps             []string
	TestGoFiles, XTestGoFiles []string
}

func list(t *testing.T) map[string]listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps=false", "-json=ImportPath,Dir,Imports,Deps,TestGoFiles,XTestGoFiles", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := make(map[string]listed)
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		var p listed
		if err := decoder.Decode(&p); err != nil {
			t.Fatal(err)
		}
		packages[room(p.ImportPath)] = p
	}
	return packages
}

// room is the path of a package inside the module.
func room(importPath string) string {
	if importPath == module {
		return "."
	}
	return strings.TrimPrefix(importPath, module+"/")
}

// ownerOf is the package that an internal package belongs to; any other package is its own.
func ownerOf(room string) string {
	owner, _, _ := strings.Cut(room, "/internal/")
	return owner
}

func floorOf(room string) int {
	room = ownerOf(room)
	return slices.IndexFunc(floors, func(rooms []string) bool { return slices.Contains(rooms, room) })
}

// Imports only go down.
func TestFloors(t *testing.T) {
	t.Parallel()
	packages := list(t)
	for from, p := range packages {
		if floorOf(from) < 0 {
			t.Errorf("%s has no floor: give it one in layers_test.go", from)
			continue
		}
		for _, imported := range p.Imports {
			to := room(imported)
			if to == imported {
				continue // not of this module
			}
			if why := refusal(from, to); why != "" {
				t.Errorf("%s imports %s: %s", from, to, why)
			}
		}
	}
	for _, rule := range forbidden {
		for _, dep := range packages[rule.pkg].Deps {
			if strings.HasPrefix(dep, rule.dep) && !strings.HasPrefix(dep, module) {
				t.Errorf("%s depends on %s: %s", rule.pkg, dep, rule.why)
			}
		}
	}
}

func refusal(from, to string) string {
	a, b := floorOf(from), floorOf(to)
	switch {
	case b < a, path.Dir(from) == to && to != ".", to != ownerOf(to) && ownerOf(from) == ownerOf(to), slices.Contains(arrows[ownerOf(from)], to):
		return ""
	case b == a:
		return "rooms of one floor do not see each other; move what both need down, or add an arrow with its reason"
	}
	return "imports only go down; let the lower package name an interface that the upper one implements"
}

// The rule itself works.
func TestRefusal(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		from, to string
		refused  bool
	}{
		{"oauthserver", "apierror", false},
		{"apierror", "oauthserver", true},
		{"oauthserver", "webhooks", true},
		{"console", "webhooks", false},
		{"guard", "console", true},
		{"idempotency", "oauthserver", true},
		{"guard", ".", true},
		{"partnertest", ".", false},
		{"sandbox", ".", false},
		{"sandbox", "examples/books", true},
		{".", "partnertest", true},
		{"examples/embed", "partnertest", false},
		{"oauthserver/pages", "oauthserver", false},
		{"oauthserver", "oauthserver/internal/uri", false},
		{"oauthserver/pages", "oauthserver/internal/uri", true},
		{"oauthserver/internal/document", "oauthserver/internal/uri", false},
		{"oauthserver/internal/document", "internal/outbound", false},
		{"oauthserver/internal/document", "webhooks", true},
		{"oauthserver/internal/core", "oauthserver/oauthstore", false},
		{"storage/sqlite", "storage/sqlstore", false},
		{"storage/sqlstore", "storage/sqlite", true},
		{"examples/server", "examples/books", false},
		{"examples/books", "examples/server", true},
		{"examples/embed", "examples/books/ledger", true},
	} {
		if got := refusal(test.from, test.to) != ""; got != test.refused {
			t.Errorf("%s to %s: refused %v", test.from, test.to, got)
		}
	}
}

// No Go file of the repository, tests and other modules included, imports unsafe or the
// inside of a dependency.
func TestNoUnsafeImports(t *testing.T) {
	t.Parallel()
	files := 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == ".git") {
			return filepath.SkipDir
		}
		if entry.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}
		files++
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, one := range file.Imports {
			switch imported := strings.Trim(one.Path.Value, `"`); imported {
			case "unsafe", "modernc.org/libc", "modernc.org/sqlite/lib":
				t.Errorf("%s imports %s", path, imported)
			}
		}
		return nil
	})
	if err != nil || files < 500 {
		t.Errorf("%d files read: %v", files, err)
	}
}
