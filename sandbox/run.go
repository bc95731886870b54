package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"github.com/partnerkit/partnerkit/internal/serving"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// run returns the whole program: it serves until ctx ends, and then returns nil.
func (p Program) run(ctx context.Context, o options, stdout, stderr io.Writer) (err error) {
	log := slog.New(slog.NewTextHandler(stderr, nil))
	s := &server{program: p, options: o, log: log}
	if s.isDev, err = o.development(); err != nil {
		return err
	}
	if err := p.check(o); err != nil {
		return err
	}
	if s.ring, err = o.keyring(s.isDev, log); err != nil {
		return err
	}
	if s.proxies, err = ratelimit.NewProxies(o.proxies); err != nil {
		return usage(err)
	}
	data, err := p.readFixtures(o.fixtures, s.isDev)
	if err != nil {
		return err
	}

	if s.store, err = p.openStore(ctx, o.db, log); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.store.Close()) }()
	if s.metrics, err = newMetrics(); err != nil {
		return err
	}
	var limits io.Closer
	if s.limiter, limits, err = s.openLimiter(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, limits.Close()) }()
	if s.clock, err = newTimekeeper(ctx, s.store, log); err != nil {
		return err
	}

	on, err := o.listen(ctx)
	if err != nil {
		return err
	}
	defer on.close()
	s.apiURL, s.appURL = on.api.url(o.apiURL), on.app.url(o.appURL)
	if on.metrics != nil {
		s.metricsURL = "http://" + on.metrics.sockets[0].Addr().String() + "/metrics"
	}
	if err := s.assemble(); err != nil {
		return err
	}
	shown, err := s.fill(ctx, data)
	if err != nil {
		return err
	}
	log.InfoContext(ctx, "listening", "api", on.api.addresses(), "app", on.app.addresses())
	if err := s.oauth.CheckKeys(ctx); err != nil {
		return fmt.Errorf("-key must open what this database has sealed: %w", err)
	}
	if err := greet(s, shown, stderr); err != nil {
		return err
	}
	if err := sayReady(s, stdout); err != nil {
		return err
	}
	return s.run(ctx, on)
}

// run serves both hosts and the metrics, and does what no request causes. It stops in order: the
// listeners and the requests under way, the loops of the platform, the line to
// other nodes.
func (s *server) run(ctx context.Context, on listeners) error {
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var lines sync.WaitGroup
	if s.isDev {
		lines.Go(func() { s.clock.follow(background) })
	}

	lines.Go(func() { s.spec.prepare(background) })

	limit := newConnectionLimit(openFiles(), s.proxies, s.metrics.refused.Inc, s.log)
	sites := []serving.Site{on.api.site(s.api(), limit, s.errors), on.app.site(s.app(), limit, s.errors)}
	if on.metrics != nil {
		sites = append(sites, on.metrics.site(s.monitoring(), limit, s.errors))
	}
	err := serving.Run(ctx, s.log, s.platform.Run, sites...)
	stop()
	lines.Wait()
	if err != nil {
		return fmt.Errorf("stopped: %w", err)
	}
	s.log.Info("stopped")
	return nil
}
