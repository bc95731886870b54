package report

import (
	"runtime/debug"
	"slices"
	"strings"
)

// Peer is another library, and how it is set up beside ours.
type Peer struct{ Module, Version, Setup string }

var peers = []Peer{
	{Module: "github.com/ory/fosite", Setup: "its memory store, HMAC tokens and PKCE; client secrets once hashed by its default, bcrypt 12, and once by SHA-256, as ours are: they are random"},
	{Module: "github.com/go-oauth2/oauth2/v4", Setup: "its memory stores for clients and tokens, and its defaults; it compares the client's secret as it is, and not at all when a token is refreshed"},
	{Module: "github.com/zitadel/oidc/v3", Setup: "the provider on the memory store of its example; its responses have an ID token too, signed with RSA"},
	{Module: "github.com/sethvargo/go-limiter", Setup: "memorystore with one interval"},
	{Module: "github.com/ulule/limiter/v3", Setup: "its memory store, and its Redis store"},
	{Module: "github.com/throttled/throttled/v2", Setup: "GCRA over its memory store, bounded to twice the keys that there are, and over its Redis store"},
	{Module: "golang.org/x/time", Setup: "rate.Limiter in a map under a mutex, which only grows"},
	{Module: "github.com/go-redis/redis_rate/v10", Setup: "as it comes"},
	{Module: "github.com/riverqueue/river", Setup: "the queue under a minimal sender of webhooks, on the same PostgreSQL"},
}

// Peers returns those that were linked in.
func Peers() []Peer {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	var found []Peer
	for _, peer := range peers {
		if i := slices.IndexFunc(info.Deps, func(m *debug.Module) bool { return m.Path == peer.Module }); i >= 0 {
			peer.Version = info.Deps[i].Version
			peer.Module = strings.TrimPrefix(peer.Module, "github.com/")
			found = append(found, peer)
		}
	}
	return found
}
