package servers

import (
	"testing"

	"github.com/redis/go-redis/v9"
)

// LIM-07: -redis names one server, Sentinel or a cluster.
func TestRedisURLs_LIM07(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]func(client redis.UniversalClient) bool{
		"redis://u:p@127.0.0.1:1/3": func(client redis.UniversalClient) bool {
			one, ok := client.(*redis.Client)
			return ok && one.Options().Addr == "127.0.0.1:1" && one.Options().DB == 3
		},
		"rediss://127.0.0.1:1?addr=127.0.0.1:2&addr=127.0.0.1:3": func(client redis.UniversalClient) bool {
			cluster, ok := client.(*redis.ClusterClient)
			return ok && len(cluster.Options().Addrs) == 3 && cluster.Options().TLSConfig != nil
		},
		"redis://127.0.0.1:1/2?master_name=limits&addr=127.0.0.1:2": func(client redis.UniversalClient) bool {
			failover, ok := client.(*redis.Client)
			return ok && failover.Options().Addr == "FailoverClient" && failover.Options().DB == 2
		},
	} {
		client, err := newRedis(url)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if !want(client) {
			t.Errorf("%s: %T", url, client)
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, url := range []string{"http://x", "redis://x?addr=y", "redis://x?master_name=m&addr=y", "redis://x?addr=y:1&unknown=1", "%zz"} {
		if client, err := newRedis(url); err == nil {
			t.Errorf("%s: %T", url, client)
		}
	}
}
