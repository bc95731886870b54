package redislimit

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/partnerkit/partnerkit/ratelimit"
)

// checkScript counts in the first ARGV[1] keys and reads the lockouts of the
// others. The rest of ARGV are the counters' times to live. It answers with a
// number for each key: the count, or when the lockout ends, 0 for none.
const checkScript = `
local counters = tonumber(ARGV[1])
local reply = {}
for i, key in ipairs(KEYS) do
  if i <= counters then
    reply[i] = redis.call('INCR', key)
    if reply[i] == 1 then
      redis.call('PEXPIRE', key, ARGV[i + 1])
    end
  else
    local lockout = redis.call('HMGET', key, 'locked', 'ends')
    reply[i] = lockout[1] == '1' and tonumber(lockout[2]) or 0
  end
end
return reply
`

// failScript counts a failure for each key. ARGV[1] is now; then come four for
// each key: more than, within, for, and the time to live. All times are in
// milliseconds.
const failScript = `
local now = tonumber(ARGV[1])
for i, key in ipairs(KEYS) do
  local at = 4 * i - 2
  local state = redis.call('HMGET', key, 'count', 'ends', 'locked')
  local count, ends, locked = tonumber(state[1]), tonumber(state[2]), state[3]
  if not ends or now >= ends then
    count, ends, locked = 0, now + tonumber(ARGV[at + 1]), '0'
  end
  if locked ~= '1' then
    count = count + 1
    if count > tonumber(ARGV[at]) then
      locked, ends = '1', now + tonumber(ARGV[at + 2])
    end
    redis.call('HSET', key, 'count', count, 'ends', string.format('%.0f', ends), 'locked', locked)
    redis.call('PEXPIRE', key, ARGV[at + 3])
  end
end
return 0
`

// store is the part that lives in Redis.
type store struct {
	client *redis.Client
	prefix string
	checks *redis.Script
	fails  *redis.Script
}

func newStore(client *redis.Client, prefix string) *store {
	return &store{
		client: client,
		prefix: prefix,
		checks: redis.NewScript(checkScript),
		fails:  redis.NewScript(failScript),
	}
}

func (s *store) check(ctx context.Context, now time.Time, req ratelimit.Request) (ratelimit.Tally, error) {
	keys := make([]string, 0, ratelimit.MaxCounters+ratelimit.MaxLockouts)
	ttls := make([]any, 1, 1+ratelimit.MaxCounters)
	for _, c := range req.Counters {
		if c.IsUsed() {
			keys = append(keys, s.counterKey(c, now))
			ttls = append(ttls, 2*c.Limit.Window.Milliseconds())
		}
	}
	ttls[0] = len(keys)
	for _, l := range req.Lockouts {
		if l.IsUsed() {
			keys = append(keys, s.lockoutKey(l))
		}
	}
	if len(keys) == 0 {
		return ratelimit.Tally{}, nil
	}
	reply, err := s.checks.Run(ctx, s.client, keys, ttls...).Int64Slice()
	if err != nil {
		return ratelimit.Tally{}, err
	}
	if len(reply) != len(keys) {
		return ratelimit.Tally{}, fmt.Errorf("redis answered %d numbers for %d keys", len(reply), len(keys))
	}
	return tally(req, reply), nil
}

// tally puts the numbers of a reply back into the places of the request.
func tally(req ratelimit.Request, reply []int64) ratelimit.Tally {
	var t ratelimit.Tally
	for i := range req.Counters {
		if req.Counters[i].IsUsed() {
			t.Counts[i], reply = reply[0], reply[1:]
		}
	}
	for i := range req.Lockouts {
		if req.Lockouts[i].IsUsed() {
			t.LockedUntil[i], reply = reply[0], reply[1:]
		}
	}
	return t
}

func (s *store) fail(ctx context.Context, now time.Time, failed ratelimit.Lockouts) error {
	keys := make([]string, 0, ratelimit.MaxLockouts)
	args := make([]any, 1, 1+4*ratelimit.MaxLockouts)
	args[0] = now.UnixMilli()
	for _, l := range failed {
		if l.IsUsed() {
			within, lock := l.Rule.Within.Milliseconds(), l.Rule.For.Milliseconds()
			keys = append(keys, s.lockoutKey(l))
			args = append(args, l.Rule.MoreThan, within, lock, 2*max(within, lock))
		}
	}
	if len(keys) == 0 {
		return nil
	}
	return s.fails.Run(ctx, s.client, keys, args...).Err()
}

func (s *store) counterKey(c ratelimit.Counter, now time.Time) string {
	number, _ := c.Window(now)
	return s.prefix + "c:" + c.Key.String() +
		":" + strconv.FormatInt(c.Limit.Window.Milliseconds(), 10) +
		":" + strconv.FormatInt(number, 10)
}

func (s *store) lockoutKey(l ratelimit.Lockout) string {
	return s.prefix + "l:" + l.Key.String()
}
