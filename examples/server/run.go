package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/partnerkit/partnerkit/examples/books"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/ratelimit"
	"github.com/partnerkit/partnerkit/webhooks"
)

// run returns the whole program: it serves until ctx ends, and then returns nil.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) (err error) {
	o, err := parseOptions(args, getenv, stderr)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(stderr, nil))
	dev, err := o.development()
	if err != nil {
		return err
	}
	p := parts{dev: dev, cookieDomain: o.cookieDomain, agents: o.agents, refreshRetry: o.refreshRetry, maxConnections: o.maxConnections, custom: o.custom, log: log, webhooks: webhooks.Options{
		DisableAfter: time.Duration(o.disableAfter) * 24 * time.Hour, HeedReceivers: o.heedReceivers, StandardHeaders: o.standard, VerifyEndpoints: o.verifyWebhooks,
	}}
	if p.ring, err = o.keyring(dev, log); err != nil {
		return err
	}
	if p.proxies, err = ratelimit.NewProxies(o.proxies); err != nil {
		return usage(err)
	}
	if p.documents, err = oauthserver.TrustDocuments(o.documents...); err != nil {
		return usage(err)
	}
	if p.functions, err = newFunctionChecker(); err != nil {
		return err
	}
	data, err := o.readFixtures(dev)
	if err != nil {
		return err
	}

	if p.store, err = o.openStore(ctx, log); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.store.Close()) }()
	if p.metrics, err = newMetrics(); err != nil {
		return err
	}
	limiter, closeLimiter, err := openLimiter(ctx, o.redis, p)
	if err != nil {
		return err
	}
	defer closeLimiter()
	p.limiter = limiter
	if p.clock, err = newTimekeeper(ctx, p.store, log); err != nil {
		return err
	}
	if p.books, err = books.Open(ctx, p.store, p.clock); err != nil {
		return err
	}
	shown, err := p.fill(ctx, data)
	if err != nil {
		return err
	}

	on, err := o.listen(ctx)
	if err != nil {
		return err
	}
	defer on.close()
	if p.apiURL, err = on.api.url(o.apiURL); err != nil {
		return err
	}
	if p.appURL, err = on.app.url(o.appURL); err != nil {
		return err
	}
	p.log.InfoContext(ctx, "listening", "api", on.api.addresses(), "app", on.app.addresses())
	if on.metrics != nil {
		p.metricsURL = "http://" + on.metrics.sockets[0].Addr().String() + "/metrics"
	}
	s, err := newServer(ctx, p)
	if err != nil {
		return err
	}
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
	if s.dev {
		lines.Go(func() { s.clock.follow(background) })
	}

	serving, stopServing := context.WithCancel(ctx)
	defer stopServing()
	working, stopWork := context.WithCancel(background)
	defer stopWork()
	worked := make(chan error, 1)
	go func() {
		worked <- s.platform.Run(working)
		stopServing() // without its loops the platform is not whole
	}()

	sites := []site{
		{newHTTPServer(s.api(), serveTimeouts, s.log), on.api, s.errors},
		{newHTTPServer(s.app(), serveTimeouts, s.log), on.app, s.errors},
	}
	if on.metrics != nil {
		sites = append(sites, site{newHTTPServer(s.monitoring(), serveTimeouts, s.log), on.metrics, s.errors})
	}
	limit := newConnectionLimit(openFiles(), s.proxies, s.metrics.refused.Inc, s.log)
	for _, site := range sites {
		site.ConnState = limit.note
	}
	connections, served := serve(serving, serveTimeouts, sites...)
	s.log.Info("stopping: requests are done", "connections", connections)
	stopWork()
	err := errors.Join(served, <-worked)
	stop()
	lines.Wait()
	if err != nil {
		return fmt.Errorf("stopped: %w", err)
	}
	s.log.Info("stopped")
	return nil
}
