package oauth

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/partnerkit/partnerkit/internal/benchmarks/bench"
	"github.com/partnerkit/partnerkit/internal/benchmarks/hydra"
	"github.com/partnerkit/partnerkit/internal/benchmarks/report"
	"github.com/partnerkit/partnerkit/storage/postgres"
)

// remote passes requests on to a server elsewhere.
type remote struct {
	client *http.Client
	url    string
}

func (s remote) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out, err := http.NewRequestWithContext(r.Context(), r.Method, s.url, r.Body)
	if err == nil {
		out.Header, out.ContentLength = r.Header, r.ContentLength
		var response *http.Response
		if response, err = s.client.Do(out); err == nil {
			defer response.Body.Close()
			w.WriteHeader(response.StatusCode)
			_, _ = io.Copy(w, response.Body) // what is missing, the reader of it sees
			return
		}
	}
	http.Error(w, err.Error(), http.StatusBadGateway)
}

// Hydra compares refreshes over HTTP, on the same PostgreSQL with as many connections.
func Hydra(p bench.Plan, r *report.Report, program, url string) error {
	const clients, secret = 16, "a-secret_of-the-app"
	theirs, err := hydra.Start(program, url, hydra.Client{ID: clientID, Secret: secret, RedirectURI: redirectURI})
	if err != nil {
		return err
	}
	defer theirs.Stop()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	defer client.CloseIdleConnections()
	other := &server{
		name: "Ory Hydra", token: remote{client, theirs.TokenURL()}, path: "/", secret: secret, stop: func() {},
		code: func() (string, error) { return theirs.Code(challenge) },
	}

	db, err := sql.Open("pgx", url)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(20)
	db.SetMaxIdleConns(20)
	schema := fmt.Sprintf("partnerkit_bench_%d", os.Getpid())
	store, err := postgres.New(context.Background(), db, postgres.Config{Schema: schema})
	if err != nil {
		return err
	}
	defer func() { _, _ = db.Exec("DROP SCHEMA " + schema + " CASCADE") }()
	defer store.Close()
	our, err := newOurs(store)
	if err != nil {
		return err
	}
	listening := httptest.NewServer(our.token)
	defer listening.Close()
	our.token = remote{client, listening.URL + our.path}

	measured, err := p.Compare(5,
		bench.Side{Name: our.name, Each: 100 * clients, Do: refreshing(our, clients)},
		bench.Side{Name: other.name, Each: 4 * clients, Do: refreshing(other, clients)})
	if err != nil {
		return err
	}
	ours, hydras := measured[0], measured[1]
	ratio := ours.Ratio(hydras)
	r.Notes = append(r.Notes, "Ory Hydra 2.3.0 is a server of its own, with its default hasher, PBKDF2 with 25,000 rounds, and 20 connections, as ours has. "+
		"It is measured when `PARTNERKIT_BENCH_HYDRA` names its program: `cd internal/benchmarks/hydra/server && go build -o hydra .`")
	r.Add(report.Row{
		Group: group, Operation: fmt.Sprintf("refresh over HTTP on PostgreSQL, %d clients", clients), Ours: fmt.Sprintf("%.0f/s", ours.PerSecond()),
		Others: []string{fmt.Sprintf("%s %.0f/s", hydras.Name, hydras.PerSecond())},
		Ratios: fmt.Sprintf("%.3f of %s", ratio, hydras.Name), Spread: ours.Spread(hydras), Bar: "below 1", Missed: ratio >= 1,
	})
	return nil
}
