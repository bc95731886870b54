package nodes_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/examples/server/servertest"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/internal/testenv"
)

// The limiter counts by address, and Redis is shared with other tests: so calls come
// from all over 127.0.0.0/8, each from another address.
func TestMain(m *testing.M) {
	http.DefaultTransport = transport(func() net.IP {
		return net.IPv4(127, byte(1+rand.N(254)), byte(rand.N(256)), byte(1+rand.N(254)))
	})
	servertest.Main(m)
}

// transport dials from the given addresses.
func transport(from func() net.IP) *http.Transport {
	return &http.Transport{
		DisableKeepAlives: true, // a connection that is used again keeps its address
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: from()}}
			return dialer.DialContext(ctx, network, address)
		},
	}
}

// The number of nodes, and the content of their database.
const (
	size       = 3
	apps       = 40
	businesses = 16
	users      = 3
	secret     = "nodes-secret"
	// publicAPI and publicApp are the URLs of all nodes: session tokens and metadata
	// name them. No process listens there.
	publicAPI = "http://localhost:9"
	publicApp = "http://localhost:10"
	redirect  = "http://localhost:11/callback"
)

// cluster is nodes on one PostgreSQL and one Redis.
type cluster struct {
	*testing.T
	home  *testing.T // with which the nodes end
	tag   string     // makes ids, and so the keys in Redis, its own
	args  []string
	db    *sql.DB
	nodes []*node
}

// node is a node of a cluster.
type node struct {
	*servertest.Process
	api, app string
}

// newCluster starts nodes together, on an empty database. change may add to the
// fixtures.
func newCluster(t *testing.T, change func(tag string, data map[string]any)) *cluster {
	t.Helper()
	url := testenv.PostgresURL(t)
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	c := &cluster{T: t, home: t, tag: url[len(url)-10:], db: db, nodes: make([]*node, size)}
	c.args = []string{
		"-api", "127.0.0.1:0", "-app", "127.0.0.1:0", "-metrics", "127.0.0.1:0", "-api-url", publicAPI, "-app-url", publicApp,
		"-db", url, "-redis", testenv.Redis(t), "-fixtures", c.fixtures(change),
	}
	testdb.Race(size, func(i int) { c.nodes[i] = c.launch() })
	if t.Failed() {
		t.FailNow()
	}
	return c
}

// launch starts a node, which ends with the cluster.
func (c *cluster) launch() *node {
	p, err := servertest.Launch(c.args...)
	if err != nil {
		c.Error(err)
		return nil
	}
	n := &node{Process: p}
	c.home.Cleanup(func() {
		_ = p.Kill() // unless it has ended
		for line := range strings.Lines(p.Log()) {
			if strings.Contains(line, "level=ERROR") && c.home.Failed() {
				c.home.Log(line)
			}
		}
	})
	if n.api, n.app, err = p.Listening(); err != nil {
		c.Error(err)
	}
	return n
}

func (c *cluster) fixtures(change func(tag string, data map[string]any)) string {
	c.Helper()
	type object = map[string]any
	var people, firms, programs, owners []object
	var members []string
	for i := range users {
		people = append(people, object{"id": c.user(i), "email": fmt.Sprintf("u%d@example.com", i), "password": "demo-password", "name": fmt.Sprint("User ", i)})
		members = append(members, c.user(i))
		owners = append(owners, object{"userId": c.user(i), "role": "owner"})
	}
	for i := range businesses {
		firms = append(firms, object{"id": c.business(i), "name": fmt.Sprint("Business ", i), "members": owners})
	}
	for i := range apps {
		programs = append(programs, object{
			"id": c.app(i), "clientId": c.client(i), "clientSecret": secret, "type": "CONFIDENTIAL", "name": fmt.Sprint("App ", i),
			"organizationId": "org_" + c.tag, "reviewed": true, "redirectUris": []string{redirect}, "appUrl": redirect,
			"scopes": []string{"profile:read", "events:read", "invoices:read", "invoices:write"},
		})
	}
	data := object{
		"users": people, "businesses": firms, "apps": programs,
		"organizations": []object{{"id": "org_" + c.tag, "name": "Organization", "members": members}},
	}
	if change != nil {
		change(c.tag, data)
	}
	return servertest.WriteFixtures(c, data)
}

func (c *cluster) user(i int) string     { return fmt.Sprintf("usr_%s%d", c.tag, i) }
func (c *cluster) business(i int) string { return fmt.Sprintf("biz_%s%d", c.tag, i) }
func (c *cluster) app(i int) string      { return fmt.Sprintf("app_%s%d", c.tag, i) }
func (c *cluster) client(i int) string   { return fmt.Sprintf("client-%s%d", c.tag, i) }

// on returns the cluster for a subtest.
func (c *cluster) on(t *testing.T) *cluster {
	own := *c
	own.T = t
	return &own
}

// until waits until a condition is true.
func (c *cluster) until(what string, is func() bool) {
	c.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) || c.Context().Err() != nil {
			c.Fatalf("it never came to this: %s", what)
		}
	}
}
