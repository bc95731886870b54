package webhooks

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnerkit/partnerkit/internal/benchmarks/bench"
	"github.com/partnerkit/partnerkit/internal/benchmarks/report"
	"github.com/partnerkit/partnerkit/storage/postgres"
)

// riverWorkers is the first number of workers in River's documentation. The tuned River
// has as many workers as our service has slots, and polls for jobs as often as River's
// own benchmark does.
const (
	riverWorkers      = 100
	riverTunedWorkers = endpoints * perEndpoint
	riverTunedFetch   = 2 * time.Millisecond
)

// Postgres measures deliveries on PostgreSQL, beside a minimal sender on River.
func Postgres(p bench.Plan, r *report.Report, dsn string) (err error) {
	ctx := context.Background()
	prefix := fmt.Sprintf("partnerkit_bench_%d_", time.Now().UnixNano())
	defer func() { err = errors.Join(err, dropSchemas(ctx, dsn, prefix+"ours", prefix+"river", prefix+"tuned")) }()
	to, err := newReceiver()
	if err != nil {
		return err
	}
	defer to.close()
	store, err := postgres.Open(ctx, dsn, postgres.Config{Schema: prefix + "ours"})
	if err != nil {
		return err
	}
	defer store.Close()
	running, stop := context.WithCancel(ctx)
	var hints sync.WaitGroup
	hints.Go(func() { _ = store.Run(running) })
	defer func() {
		stop()
		hints.Wait()
	}()
	s, err := newSender(store, to)
	if err != nil {
		return err
	}
	peer, err := newRiver(dsn, prefix+"river", riverWorkers, 0, to)
	defer peer.close()
	if err != nil {
		return err
	}
	tuned, err := newRiver(dsn, prefix+"tuned", riverTunedWorkers, riverTunedFetch, to)
	defer tuned.close()
	if err != nil {
		return err
	}
	stopSending := start(s.svc)
	measured, err := p.Compare(turns, s.bareRows(n), s.endToEnd(n), peer.endToEnd("River", n/8), tuned.endToEnd("River, tuned", n/4))
	stopSending()
	if err != nil {
		return err
	}
	floor, our, river, faster := measured[0], measured[1], measured[2], measured[3]
	times, tunedTimes := river.Ratio(our), faster.Ratio(our)
	row := rateRow("event to recorded 2xx on PostgreSQL", our, floor, 1/our.Ratio(floor), "at least 6 times River, and 1.2 times the tuned one", times < 6 || tunedTimes < 1.2)
	row.Others = []string{"River " + perSecond(river), fmt.Sprintf("River with %d workers that look every %v %s", riverTunedWorkers, riverTunedFetch, perSecond(faster))}
	row.Ratios = fmt.Sprintf("%.1f times River, %.1f times the tuned one; %s", times, tunedTimes, row.Ratios)
	row.Spread = river.Spread(our)
	r.Add(row)
	return nil
}

func dropSchemas(ctx context.Context, dsn string, names ...string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, name := range names {
		if _, err := conn.Exec(ctx, `DROP SCHEMA IF EXISTS "`+name+`" CASCADE`); err != nil {
			return err
		}
	}
	return nil
}
