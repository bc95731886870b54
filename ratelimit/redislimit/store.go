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
// for each key: the count, or when the lockout ends, 0 for none.
const checkScript = `
local reply = {}
for i = 1, #ARGV do
  reply[i] = redis.call('INCR', KEYS[i])
  if reply[i] == 1 then
    redis.call('PEXPIRE', KEYS[i], ARGV[i])
  end
end
for i = #ARGV + 1, #KEYS do
  local lockout = redis.call('HMGET', KEYS[i], 'locked', 'ends')
  reply[i] = lockout[1] == '1' and tonumber(lockout[2]) or 0
end
return reply
`

// failScript counts a failure for each key, unless one of them is locked out. ARGV[1] is
// now; then come four for each key: more than, within, for, and the time to live. All
// times are in milliseconds. It responds with a number for each key: when its lockout
// ends, 0 for none before this failure; and with 1 if this failure began a lockout, else 0.
const failScript = `
local now = tonumber(ARGV[1])
local reply, states, refused, began = {}, {}, false, 0
for i, key in ipairs(KEYS) do
  local state = redis.call('HMGET', key, 'count', 'ends', 'locked')
  local count, ends, locked = tonumber(state[1]), tonumber(state[2]), state[3]
  if not ends or now >= ends then
    count, ends, locked = 0, now + tonumber(ARGV[4 * i - 1]), '0'
  end
  reply[i] = locked == '1' and ends or 0
  refused = refused or locked == '1'
  states[i] = {count + 1, ends}
end
if refused then
  reply[#KEYS + 1] = 0
  return reply
end
for i, key in ipairs(KEYS) do
  local at, count, within, locked = 4 * i - 2, states[i][1], states[i][2], '0'
  local ends = within
  if count > tonumber(ARGV[at]) then
    locked, ends, began = '1', now + tonumber(ARGV[at + 2]), 1
  end
  redis.call('HSET', key, 'count', count, 'ends', string.format('%.0f', ends), 'locked', locked, 'within', string.format('%.0f', within))
  redis.call('PEXPIRE', key, ARGV[at + 3])
end
reply[#KEYS + 1] = began
return reply
`

// forgiveScript takes back one failure of each key, and the lockout that it began. The
// failures that remain count until the time that they would have counted without it.
// ARGV[1] is now, in milliseconds; then comes more than, for each key.
const forgiveScript = `
local now = tonumber(ARGV[1])
for i, key in ipairs(KEYS) do
  local state = redis.call('HMGET', key, 'count', 'ends', 'within')
  local count, ends, within = tonumber(state[1]), tonumber(state[2]), state[3]
  if ends and now < ends then
    if count <= 1 then
      redis.call('DEL', key)
    else
      redis.call('HSET', key, 'count', count - 1)
      if count - 1 <= tonumber(ARGV[i + 1]) then
        redis.call('HSET', key, 'locked', '0', 'ends', within or state[2])
      end
    end
  end
end
return 0
`

// store is the part that lives in Redis.
type store struct {
	client   *redis.Client
	prefix   string
	digest   string // of checkScript
	fails    *redis.Script
	forgives *redis.Script
}

func newStore(client *redis.Client, prefix string) *store {
	return &store{
		client:   client,
		prefix:   prefix,
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
	keys := make([]string, 0, ratelimit.MaxLockouts)
	args := make([]any, 1, 1+4*ratelimit.MaxLockouts)
	args[0] = now.UnixMilli()
	for i := range failed {
		if l := &failed[i]; l.IsUsed() {
			within, lock := l.Rule.Within.Milliseconds(), l.Rule.For.Milliseconds()
			keys = append(keys, s.lockoutKey(l))
			args = append(args, l.Rule.MoreThan, within, lock, 2*max(within, lock))
		}
	}
	if len(keys) == 0 {
		return ratelimit.Tally{}, nil
	}
	reply, err := s.fails.Run(ctx, s.client, keys, args...).Int64Slice()
	if err != nil {
		return ratelimit.Tally{}, err
	}
	if len(reply) != len(keys)+1 {
		return ratelimit.Tally{}, fmt.Errorf("redis returned %d numbers for the failures of %d keys", len(reply), len(keys))
	}
	found := tally(&ratelimit.Request{Lockouts: failed}, nil, reply[:len(keys)])
	found.BeganLockout = reply[len(keys)] == 1
	return found, nil
}

func (s *store) forgive(ctx context.Context, now time.Time, failed ratelimit.Lockouts) error {
	var keys []string
	args := []any{now.UnixMilli()}
	for i := range failed {
		if l := &failed[i]; l.IsUsed() {
			keys = append(keys, s.lockoutKey(l))
			args = append(args, l.Rule.MoreThan)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	return s.forgives.Run(ctx, s.client, keys, args...).Err()
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

func (s *store) lockoutKey(l *ratelimit.Lockout) string {
	return s.prefix + "l:" + l.Key.String()
}
