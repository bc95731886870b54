package redislimit_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/partnerkit/partnerkit/internal/proof"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/ratelimit/redislimit"
)

// TestFailoverOfSentinel kills the master of a Redis Sentinel, which promotes the replica.
// Meanwhile every check has a result, counted by each node of ours on its own. After the
// promotion the nodes count together again, without a restart.
func TestFailoverOfSentinel_LIM07(t *testing.T) {
	t.Parallel()
	testenv.Programs(t, "redis-server")
	p := proof.Begin(t, "The master of a Redis Sentinel killed under load", "checks")
	ports := freePorts(t, 3)
	run := func(args ...string) *exec.Cmd {
		t.Helper()
		server := exec.CommandContext(context.Background(), "redis-server", args...) //nolint:gosec // the test's own words
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = server.Process.Kill()
			_ = server.Wait()
		})
		return server
	}
	data := func(port string, more ...string) *exec.Cmd {
		return run(append([]string{"--bind", "127.0.0.1", "--port", port, "--dir", t.TempDir(), "--save", "", "--appendonly", "no", "--repl-diskless-sync-delay", "0"}, more...)...)
	}
	master := data(ports[0])
	data(ports[1], "--replicaof", "127.0.0.1 "+ports[0])
	config := filepath.Join(t.TempDir(), "sentinel.conf") // which Sentinel writes to
	text := fmt.Sprintf("bind 127.0.0.1\nport %s\nsentinel monitor limits 127.0.0.1 %s 1\nsentinel down-after-milliseconds limits 500\nsentinel failover-timeout limits 5000\n", ports[2], ports[0])
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run(config, "--sentinel")
	sentinel := redis.NewSentinelClient(&redis.Options{Addr: net.JoinHostPort("127.0.0.1", ports[2])})
	t.Cleanup(func() { _ = sentinel.Close() })
	await := func(what string, isSo func() bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !isSo(); time.Sleep(50 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal(what)
			}
		}
	}
	await("the sentinel does not know the replica", func() bool {
		replicas, err := sentinel.Replicas(t.Context(), "limits").Result()
		return err == nil && len(replicas) == 1 && replicas[0]["master-link-status"] == "ok"
	})
	load := newLoad(p, func() *redislimit.Limiter {
		client := redis.NewFailoverClient(&redis.FailoverOptions{
			MasterName: "limits", SentinelAddrs: []string{net.JoinHostPort("127.0.0.1", ports[2])}, ContextTimeoutEnabled: true, MaxRetries: -1,
		})
		t.Cleanup(func() { _ = client.Close() })
		return open(t, redislimit.Config{Client: client, Timeout: time.Second})
	})
	load.countsTogether("before")
	_ = master.Process.Kill()
	killed := time.Now()
	load.goesOn("killed")
	await("the replica is not promoted", func() bool {
		at, err := sentinel.GetMasterAddrByName(t.Context(), "limits").Result()
		return err == nil && len(at) == 2 && at[1] == ports[1]
	})
	promoted := time.Since(killed)
	load.countsTogether("promoted")
	p.Notef("promoted after %v, the nodes count together %v after that", promoted.Round(10*time.Millisecond), (time.Since(killed) - promoted).Round(10*time.Millisecond))
}
