package redislimit

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/partnerkit/partnerkit/ratelimit"
)

// checkScript counts in as many keys as there are in ARGV, which holds their
// times to live, and reads the lockouts of the others. It responds with a number
// for each key: the count, or when the lockout ends or ended, 0 for none.
const checkScript = `
local reply = {}
for i = 1, #ARGV do
  reply[i] = redis.call('INCR', KEYS[i])
  if reply[i] == 1 then
    redis.call('PEXPIRE', KEYS[i], ARGV[i])
  end
end
for i = #ARGV + 1, #KEYS do
  reply[i] = tonumber(redis.call('GET', KEYS[i]) or '0')
end
return reply
`

// failScript counts a failure for each lockout, unless one of them is locked out. A lockout has
// two keys: when it ends or ended, and the times of its failures, the latest first. ARGV[1] is
// now; then come four for each lockout: more than, within, for, and the time to live. All times
// are in milliseconds. It responds with a number for each lockout: when it ends or ended, 0
// for none before this failure; and with 1 if this failure began a lockout, else 0.
const failScript = `
local now = tonumber(ARGV[1])
local reply, refused, began = {}, false, 0
for i = 1, #KEYS / 2 do
  reply[i] = tonumber(redis.call('GET', KEYS[2 * i - 1]) or '0')
  refused = refused or now < reply[i]
end
if not refused then
  for i = 1, #KEYS / 2 do
    local lockout, failures, at = KEYS[2 * i - 1], KEYS[2 * i], 4 * i - 2
    local more_than, within, ttl = tonumber(ARGV[at]), tonumber(ARGV[at + 1]), ARGV[at + 3]
    if reply[i] > 0 then
      redis.call('DEL', lockout, failures)
    end
    -- A failure that is recorded late counts at the time of the last one.
    local last = redis.call('LINDEX', failures, 0)
    local at_time = (last and tonumber(last) > now) and last or ARGV[1]
    local first = redis.call('LINDEX', failures, -1)
    while first and tonumber(at_time) - tonumber(first) >= within do
      redis.call('RPOP', failures)
      first = redis.call('LINDEX', failures, -1)
    end
    local count = redis.call('LPUSH', failures, at_time)
    redis.call('PEXPIRE', failures, ttl)
    if count > more_than then
      redis.call('SET', lockout, string.format('%.0f', now + tonumber(ARGV[at + 2])), 'PX', ttl)
      began = 1
    end
  end
end
reply[#reply + 1] = began
return reply
`

// forgiveScript takes back one failure of each lockout, and the lockout that it began. The
// failures that remain count for as long as they would have counted without it. ARGV[1] is
// now; then come more than and within for each lockout. All times are in milliseconds.
const forgiveScript = `
local now = tonumber(ARGV[1])
for i = 1, #KEYS / 2 do
  local lockout, failures = KEYS[2 * i - 1], KEYS[2 * i]
  local ends = tonumber(redis.call('GET', lockout) or '0')
  local last = redis.call('LINDEX', failures, 0)
  if last and (ends == 0 and now < tonumber(last) + tonumber(ARGV[2 * i + 1]) or now < ends) then
    if redis.call('LREM', failures, 1, ARGV[1]) == 0 then
      redis.call('LPOP', failures)
    end
    if redis.call('LLEN', failures) <= tonumber(ARGV[2 * i]) then
      redis.call('DEL', lockout)
    end
  end
end
return 0
`

// store is the part that lives in Redis.
type store struct {
	client   redis.UniversalClient
	isOne    bool // one server has all keys
	prefix   string
	digest   string        // of checkScript
	counts   *redis.Script // countScript
	fails    *redis.Script
	forgives *redis.Script
}

func newStore(client redis.UniversalClient, prefix string) *store {
	_, isOne := client.(*redis.Client)
	return &store{
		client:   client,
		isOne:    isOne,
		prefix:   prefix,
		counts:   redis.NewScript(countScript),
		digest:   redis.NewScript(checkScript).Hash(),
		fails:    redis.NewScript(failScript),
		forgives: redis.NewScript(forgiveScript),
	}
}

// keys are the keys of checks: each counter has a time to live.
type keys struct{ counters, ttls, lockouts []any }

func (k *keys) len() int { return len(k.counters) + len(k.lockouts) }

func (k *keys) add(more keys) {
	k.counters = append(k.counters, more.counters...)
	k.ttls = append(k.ttls, more.ttls...)
	k.lockouts = append(k.lockouts, more.lockouts...)
}

// keys returns the keys of one check, in the order of the request.
func (s *store) keys(now time.Time, req *ratelimit.Request) keys {
	const n = ratelimit.MaxCounters
	space := make([]any, 2*n+ratelimit.MaxLockouts) // one allocation for all
	k := keys{counters: space[:0:n], ttls: space[n : n : 2*n], lockouts: space[2*n : 2*n]}
	for i := range req.Counters {
		if c := &req.Counters[i]; c.IsUsed() {
			k.counters = append(k.counters, s.counterKey(c, now))
			k.ttls = append(k.ttls, 2*c.Limit.Window.Milliseconds())
		}
	}
	for i := range req.Lockouts {
		if l := &req.Lockouts[i]; l.IsUsed() {
			k.lockouts = append(k.lockouts, s.lockoutKey(l))
		}
	}
	return k
}

// check counts and reads the keys. It returns a number for each, in the order
// of checkScript.
func (s *store) check(ctx context.Context, k keys) ([]int64, error) {
	if !s.isOne {
		return s.checkEach(ctx, k)
	}
	args := slices.Concat([]any{"evalsha", s.digest, k.len()}, k.counters, k.lockouts, k.ttls)
	reply, err := s.numbers(ctx, args)
	if err != nil && redis.HasErrorPrefix(err, "NOSCRIPT") {
		args[0], args[1] = "eval", checkScript
		reply, err = s.numbers(ctx, args)
	}
	if err != nil {
		return nil, err
	}
	if len(reply) != k.len() {
		return nil, fmt.Errorf("redis returned %d numbers for %d keys", len(reply), k.len())
	}
	return reply, nil
}

// read returns the counts of the counters and changes nothing.
func (s *store) read(ctx context.Context, now time.Time, counters []ratelimit.Counter) ([]int64, error) {
	if len(counters) == 0 {
		return nil, nil
	}
	keys := make([]string, len(counters))
	for i := range counters {
		keys[i] = s.counterKey(&counters[i], now)
	}
	if !s.isOne {
		return s.readEach(ctx, keys)
	}
	kept, err := s.client.MGet(ctx, keys...).Result()
	if err != nil {
		return nil, err
	}
	counts := make([]int64, len(counters))
	for i, one := range kept {
		if text, ok := one.(string); ok { // nil: no request yet
			if counts[i], err = strconv.ParseInt(text, 10, 64); err != nil {
				return nil, fmt.Errorf("redis keeps no number for a counter: %w", err)
			}
		}
	}
	return counts, nil
}

// numbers runs a command that responds with a list of numbers.
func (s *store) numbers(ctx context.Context, args []any) ([]int64, error) {
	cmd := redis.NewIntSliceCmd(ctx, args...)
	err := s.client.Process(ctx, cmd)
	return cmd.Val(), err
}

// tally puts the numbers of a reply back into the places of the request.
func tally(req *ratelimit.Request, counts, ends []int64) ratelimit.Tally {
	var t ratelimit.Tally
	for i := range req.Counters {
		if req.Counters[i].IsUsed() {
			t.Counts[i], counts = counts[0], counts[1:]
		}
	}
	for i := range req.Lockouts {
		if req.Lockouts[i].IsUsed() {
			t.LockedUntil[i], ends = ends[0], ends[1:]
		}
	}
	return t
}

// fail counts failures. It returns when the lockouts end that refused, as check does, and
// whether it began one.
func (s *store) fail(ctx context.Context, now time.Time, failed ratelimit.Lockouts) (ratelimit.Tally, error) {
	calls := s.perLockout(now, failed, func(rule ratelimit.LockoutRule) []any {
		within, lock := rule.Within.Milliseconds(), rule.For.Milliseconds()
		return []any{rule.MoreThan, within, lock, 2 * max(within, lock)}
	})
	if len(calls) == 0 {
		return ratelimit.Tally{}, nil
	}
	if !s.isOne {
		return s.failEach(ctx, now, failed, calls)
	}
	keys, args := together(calls)
	reply, err := s.fails.Run(ctx, s.client, keys, args...).Int64Slice()
	if err != nil {
		return ratelimit.Tally{}, err
	}
	n := len(keys) / 2
	if len(reply) != n+1 {
		return ratelimit.Tally{}, fmt.Errorf("redis returned %d numbers for the failures of %d lockouts", len(reply), n)
	}
	found := tally(&ratelimit.Request{Lockouts: failed}, nil, reply[:n])
	found.BeganLockout = reply[n] == 1
	return found, nil
}

func (s *store) forgive(ctx context.Context, now time.Time, failed ratelimit.Lockouts) error {
	calls := s.perLockout(now, failed, func(rule ratelimit.LockoutRule) []any {
		return []any{rule.MoreThan, rule.Within.Milliseconds()}
	})
	if len(calls) == 0 {
		return nil
	}
	if !s.isOne {
		_, err := s.runEach(ctx, s.forgives, calls)
		return err
	}
	keys, args := together(calls)
	return s.forgives.Run(ctx, s.client, keys, args...).Err()
}

// perLockout returns a run of failScript or of forgiveScript for each lockout: the first of its
// arguments is now, the others are those of the lockout.
func (s *store) perLockout(now time.Time, failed ratelimit.Lockouts, args func(ratelimit.LockoutRule) []any) []scripted {
	var calls []scripted
	for i := range failed {
		if l := &failed[i]; l.IsUsed() {
			calls = append(calls, scripted{[]string{s.lockoutKey(l), s.failuresKey(l)}, append([]any{now.UnixMilli()}, args(l.Rule)...)})
		}
	}
	return calls
}

// together returns the keys and the arguments of one run for all lockouts.
func together(calls []scripted) (keys []string, args []any) {
	args = calls[0].args[:1:1]
	for _, call := range calls {
		keys, args = append(keys, call.keys...), append(args, call.args[1:]...)
	}
	return keys, args
}

func (s *store) counterKey(c *ratelimit.Counter, now time.Time) string {
	number, _ := c.Window(now)
	var space [maxPrefix + 64]byte
	b := append(append(space[:0], s.prefix...), "c:"...)
	b = base64.RawURLEncoding.AppendEncode(b, c.Key[:])
	b = strconv.AppendInt(append(b, ':'), c.Limit.Window.Milliseconds(), 10)
	b = strconv.AppendInt(append(b, ':'), number, 10)
	return string(b)
}

// lockoutKey and failuresKey name the two keys of a lockout. The braces put both on one node of
// a cluster.
func (s *store) lockoutKey(l *ratelimit.Lockout) string {
	return s.prefix + "l:{" + l.Key.String() + "}"
}

func (s *store) failuresKey(l *ratelimit.Lockout) string {
	return s.prefix + "f:{" + l.Key.String() + "}"
}
