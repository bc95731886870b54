// Command benchmarks measures the library beside others and beside what the machine
// allows, and prints one table. It ends with 1 when a bar is missed. Redis is found by
// PARTNERKIT_TEST_REDIS.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/partnerkit/partnerkit/benchmarks/limits"
	"github.com/partnerkit/partnerkit/benchmarks/oauth"
	"github.com/partnerkit/partnerkit/benchmarks/report"
)

func main() {
	only := flag.String("only", "", "the `name` of one measurement")
	flag.Parse()
	var r report.Report
	for _, one := range []struct {
		name string
		run  func(*report.Report) error
	}{
		{"limits-memory", limits.Memory},
		{"limits-redis", func(r *report.Report) error { return limits.Redis(r, os.Getenv("PARTNERKIT_TEST_REDIS")) }},
		{"oauth-above", oauth.Above},
		{"oauth-durable", oauth.Durable},
	} {
		if *only != "" && *only != one.name {
			continue
		}
		if err := one.run(&r); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", one.name, err)
			os.Exit(2)
		}
	}
	if err := r.Print(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if r.Missed() > 0 {
		os.Exit(1)
	}
}
