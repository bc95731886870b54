package redislimit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/partnerkit/partnerkit/ratelimit"
)

// A command of a cluster takes keys of one slot, so here each counter and each lockout has a
// command of its own. The client sends those for one node together, and asks the nodes at the
// same time.

// countScript counts in one key, whose time to live is ARGV[1].
const countScript = `
local n = redis.call('INCR', KEYS[1])
if n == 1 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return n
`

// scripted is one run of a script. Its keys are in one slot.
type scripted struct {
	keys []string
	args []any
}

// checkEach is check, with a command for each key.
func (s *store) checkEach(ctx context.Context, k keys) ([]int64, error) {
	calls := make([]scripted, len(k.counters))
	for i, key := range k.counters {
		calls[i] = scripted{[]string{key.(string)}, []any{k.ttls[i]}}
	}
	lockouts := make([]string, len(k.lockouts))
	for i, key := range k.lockouts {
		lockouts[i] = key.(string)
	}
	pipe := s.client.Pipeline()
	counted := queue(ctx, pipe, s.counts, calls)
	kept := queueReads(ctx, pipe, lockouts)
	_, _ = pipe.Exec(ctx) // each command has its own error
	reply, err := s.numbersOf(ctx, s.counts, calls, counted)
	if err != nil {
		return nil, err
	}
	ends, err := readNumbers(kept)
	return append(reply, ends...), err
}

// readEach is read, with a command for each key.
func (s *store) readEach(ctx context.Context, keys []string) ([]int64, error) {
	pipe := s.client.Pipeline()
	kept := queueReads(ctx, pipe, keys)
	_, _ = pipe.Exec(ctx)
	return readNumbers(kept)
}

// failEach is fail for lockouts in several slots. It reads all of them, and then counts the
// failure in one after the other. If a lockout has begun meanwhile, those before it forget the
// failure.
func (s *store) failEach(ctx context.Context, now time.Time, failed ratelimit.Lockouts, calls []scripted) (ratelimit.Tally, error) {
	locks := make([]string, len(calls))
	for i, call := range calls {
		locks[i] = call.keys[0]
	}
	ends, err := s.readEach(ctx, locks)
	if err != nil {
		return ratelimit.Tally{}, err
	}
	isRefused, began := false, false
	for _, end := range ends {
		isRefused = isRefused || now.UnixMilli() < end
	}
	for i := 0; i < len(calls) && !isRefused; i++ {
		reply, err := s.fails.Run(ctx, s.client, calls[i].keys, calls[i].args...).Int64Slice()
		if err != nil {
			return ratelimit.Tally{}, err
		}
		if len(reply) != 2 {
			return ratelimit.Tally{}, fmt.Errorf("redis returned %d numbers for the failures of a lockout", len(reply))
		}
		ends[i] = reply[0]
		if isRefused = now.UnixMilli() < reply[0]; isRefused {
			began = false
			if err := s.forgive(ctx, now, first(failed, i)); err != nil {
				return ratelimit.Tally{}, err
			}
		}
		began = began || reply[1] == 1
	}
	found := tally(&ratelimit.Request{Lockouts: failed}, nil, ends)
	found.BeganLockout = began
	return found, nil
}

// first returns the first n lockouts that are used.
func first(of ratelimit.Lockouts, n int) (some ratelimit.Lockouts) {
	for i := range of {
		if of[i].IsUsed() && n > 0 {
			some[i] = of[i]
			n--
		}
	}
	return some
}

// runEach runs a script several times.
func (s *store) runEach(ctx context.Context, script *redis.Script, calls []scripted) ([]*redis.Cmd, error) {
	pipe := s.client.Pipeline()
	sent := queue(ctx, pipe, script, calls)
	_, _ = pipe.Exec(ctx)
	return s.withScript(ctx, script, calls, sent)
}

// numbersOf returns the numbers that runs of a script responded with.
func (s *store) numbersOf(ctx context.Context, script *redis.Script, calls []scripted, sent []*redis.Cmd) ([]int64, error) {
	sent, err := s.withScript(ctx, script, calls, sent)
	if err != nil {
		return nil, err
	}
	numbers := make([]int64, len(sent))
	for i, cmd := range sent {
		if numbers[i], err = cmd.Int64(); err != nil {
			return nil, err
		}
	}
	return numbers, nil
}

// withScript sends those runs again whose node does not know the script yet: they changed
// nothing. Any other error is returned.
func (s *store) withScript(ctx context.Context, script *redis.Script, calls []scripted, sent []*redis.Cmd) ([]*redis.Cmd, error) {
	pipe := s.client.Pipeline()
	for i, cmd := range sent {
		switch err := cmd.Err(); {
		case err == nil:
		case redis.HasErrorPrefix(err, "NOSCRIPT"):
			sent[i] = script.Eval(ctx, pipe, calls[i].keys, calls[i].args...)
		default:
			return nil, err
		}
	}
	if pipe.Len() > 0 {
		_, _ = pipe.Exec(ctx)
	}
	for _, cmd := range sent {
		if err := cmd.Err(); err != nil {
			return nil, err
		}
	}
	return sent, nil
}

func queue(ctx context.Context, pipe redis.Pipeliner, script *redis.Script, calls []scripted) []*redis.Cmd {
	sent := make([]*redis.Cmd, len(calls))
	for i, call := range calls {
		sent[i] = script.EvalSha(ctx, pipe, call.keys, call.args...)
	}
	return sent
}

func queueReads(ctx context.Context, pipe redis.Pipeliner, keys []string) []*redis.StringCmd {
	sent := make([]*redis.StringCmd, len(keys))
	for i, key := range keys {
		sent[i] = pipe.Get(ctx, key)
	}
	return sent
}

// readNumbers returns the numbers in keys, 0 for a key that is not there.
func readNumbers(sent []*redis.StringCmd) (numbers []int64, err error) {
	numbers = make([]int64, len(sent))
	for i, cmd := range sent {
		if numbers[i], err = cmd.Int64(); err != nil && !errors.Is(err, redis.Nil) {
			return nil, err
		}
	}
	return numbers, nil
}
