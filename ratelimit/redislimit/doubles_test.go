package redislimit_test

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
)

// listen stands in for a Redis that takes connections and then does as serve
// says, until the test is over.
func listen(t *testing.T, serve func(net.Conn)) *redis.Client {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer conn.Close()
				serve(conn)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
	})
	return newClient(t, &redis.Options{Addr: l.Addr().String()})
}

func hangUp(net.Conn)        {}
func saySilent(c net.Conn)   { _, _ = io.Copy(io.Discard, c) }
func sayNonsense(c net.Conn) { _, _ = io.WriteString(c, strings.Repeat("HTTP/1.1 200 OK\r\n", 100)) }

// commands counts what goes to Redis.
type commands struct{ sent atomic.Int64 }

func (c *commands) DialHook(next redis.DialHook) redis.DialHook { return next }
func (c *commands) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
func (c *commands) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.sent.Add(1)
		return next(ctx, cmd)
	}
}

// gate fails commands while it is down.
type gate struct{ up *atomic.Bool }

func (g gate) DialHook(next redis.DialHook) redis.DialHook { return next }
func (g gate) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
func (g gate) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if !g.up.Load() {
			cmd.SetErr(net.ErrClosed)
			return net.ErrClosed
		}
		return next(ctx, cmd)
	}
}

// forgetful makes Redis look as if it had lost its scripts, as after a restart.
type forgetful struct{ evals atomic.Int64 }

func (f *forgetful) DialHook(next redis.DialHook) redis.DialHook { return next }
func (f *forgetful) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
func (f *forgetful) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		switch cmd.Name() {
		case "evalsha":
			cmd.Args()[1] = strings.Repeat("0", 40) // the digest of no script
		case "eval":
			f.evals.Add(1)
		}
		return next(ctx, cmd)
	}
}

// meter counts what is added to any of its counters.
type meter struct {
	noop.MeterProvider
	calls atomic.Int64
}

func (m *meter) Meter(string, ...metric.MeterOption) metric.Meter { return meterOf{m: m} }

type meterOf struct {
	noop.Meter
	m *meter
}

func (o meterOf) Int64Counter(string, ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return counterOf{m: o.m}, nil
}

type counterOf struct {
	noop.Int64Counter
	m *meter
}

func (o counterOf) Add(_ context.Context, n int64, _ ...metric.AddOption) { o.m.calls.Add(n) }
