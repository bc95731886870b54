// Command benchmarks compares the library with other libraries and with the limits of the
// machine, and prints one table. It exits with 1 if a limit is missed. PostgreSQL is found
// by PARTNERKIT_TEST_POSTGRES and Redis by PARTNERKIT_TEST_REDIS; what needs one that is
// not there is left out, except with CI=true. Ory Hydra is left out unless
// PARTNERKIT_BENCH_HYDRA names the program, which is built in hydra/server.
package main

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/partnerkit/partnerkit/internal/benchmarks/bench"
	"github.com/partnerkit/partnerkit/internal/benchmarks/capacity"
	"github.com/partnerkit/partnerkit/internal/benchmarks/commits"
	"github.com/partnerkit/partnerkit/internal/benchmarks/growth"
	"github.com/partnerkit/partnerkit/internal/benchmarks/idle"
	"github.com/partnerkit/partnerkit/internal/benchmarks/limits"
	"github.com/partnerkit/partnerkit/internal/benchmarks/machine"
	"github.com/partnerkit/partnerkit/internal/benchmarks/oauth"
	"github.com/partnerkit/partnerkit/internal/benchmarks/report"
	"github.com/partnerkit/partnerkit/internal/benchmarks/webhooks"
)

const (
	postgresURL = "PARTNERKIT_TEST_POSTGRES"
	redisURL    = "PARTNERKIT_TEST_REDIS"
	// hydraProgram is built in hydra/server, in some minutes.
	hydraProgram = "PARTNERKIT_BENCH_HYDRA"
)

// measurement is a part of the table.
type measurement struct {
	name  string
	needs string // the environment variable with the address of its service
	run   func(p bench.Plan, r *report.Report) error
}

var measurements = []measurement{
	{name: "limits-memory", run: limits.Memory},
	{name: "limits-redis", needs: redisURL, run: at(redisURL, limits.Redis)},
	{name: "oauth-guard", run: oauth.Guard},
	{name: "oauth-above", run: oauth.Above},
	{name: "oauth-durable", run: oauth.Durable},
	{name: "oauth-postgres", needs: postgresURL, run: at(postgresURL, oauth.Postgres)},
	{name: "hydra", needs: hydraProgram, run: at(hydraProgram, func(p bench.Plan, r *report.Report, program string) error {
		return oauth.Hydra(p, r, program, os.Getenv(postgresURL))
	})},
	{name: "commits", run: commits.Group},
	{name: "webhooks-sqlite", run: webhooks.SQLite},
	{name: "webhooks-postgres", needs: postgresURL, run: at(postgresURL, webhooks.Postgres)},
	{name: "capacity", run: at(postgresURL, func(p bench.Plan, r *report.Report, url string) error {
		return capacity.All(p, r, url, os.Getenv(redisURL))
	})},
	{name: "growth", run: at(postgresURL, growth.All)},
	{name: "idle-sqlite", run: idle.SQLite},
	{name: "idle-statements", run: idle.Statements},
	{name: "idle-postgres", needs: postgresURL, run: at(postgresURL, idle.Postgres)},
}

// at runs what needs the address of a service.
func at(variable string, run func(p bench.Plan, r *report.Report, url string) error) func(bench.Plan, *report.Report) error {
	return func(p bench.Plan, r *report.Report) error { return run(p, r, os.Getenv(variable)) }
}

func main() {
	if capacity.IsNode() {
		if err := capacity.ServeNode(); err != nil && !errors.Is(err, http.ErrServerClosed) {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	var p bench.Plan
	flag.BoolVar(&p.Short, "short", false, "everything once, little of it, no bars")
	flag.BoolVar(&p.Large, "large", false, "growth up to ten million rows, which takes more than an hour and some 50 GB of disk")
	docs := flag.String("docs", "", "the `folder` that benchmarks.md is written into, with its plots")
	only := flag.String("only", "", "what the `names` of the measurements begin with")
	flag.Parse()
	missed, err := run(p, *only, *docs)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	case missed > 0:
		os.Exit(1)
	}
}

func run(p bench.Plan, only, docs string) (missed int, err error) {
	r := report.Report{Machine: machine.Notes(os.Getenv(postgresURL), os.Getenv(redisURL))}
	for _, one := range measurements {
		if !strings.HasPrefix(one.name, only) {
			continue
		}
		if one.needs != "" && os.Getenv(one.needs) == "" {
			if os.Getenv("CI") == "true" && one.needs != hydraProgram {
				return 0, fmt.Errorf("%s: %s is not set", one.name, one.needs)
			}
			r.Notes = append(r.Notes, fmt.Sprintf("%s was left out: %s is not set.", one.name, one.needs))
			continue
		}
		fmt.Fprintf(os.Stderr, "%s …\n", one.name)
		if err := one.run(p, &r); err != nil {
			return 0, errors.Join(r.Print(os.Stdout), fmt.Errorf("%s: %w", one.name, err)) // what there is so far
		}
	}
	if p.Short {
		r.DropBars()
	}
	if docs != "" {
		if err := r.WriteDocs(docs); err != nil {
			return 0, err
		}
	}
	return r.Missed(), r.Print(os.Stdout)
}
