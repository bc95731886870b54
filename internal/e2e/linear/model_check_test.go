package linear_test

import (
	"context"
	"testing"

	"github.com/anishathalye/porcupine"
)

// one is a call that took from one moment to another.
func one(from, to int64, verb string, about int, response string) porcupine.Operation {
	return porcupine.Operation{ClientId: int(from), Call: from, Return: to, Input: call{verb, about}, Output: response}
}

// What cannot have happened is refused, and what can is not.
func TestModels(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		model   model
		history []porcupine.Operation
		want    bool
	}{
		"a code": {codeModel, []porcupine.Operation{
			one(1, 9, "redeem", 1, "issued"), one(2, 3, "verify", 1, live), one(4, 8, "redeem", 2, "lost"), one(5, 6, "verify", 1, live), one(10, 11, "verify", 1, gone),
		}, true},
		"a code with two winners": {codeModel, []porcupine.Operation{one(1, 4, "redeem", 1, "issued"), one(2, 3, "redeem", 2, "issued")}, false},
		"a code that nobody won":  {codeModel, []porcupine.Operation{one(1, 4, "redeem", 1, "lost"), one(2, 3, "redeem", 2, "lost")}, false},
		"a survivor of a replay":  {codeModel, []porcupine.Operation{one(1, 2, "redeem", 1, "issued"), one(3, 4, "redeem", 2, "lost"), one(5, 6, "verify", 1, live)}, false},
		"a family": {familyModel, []porcupine.Operation{
			one(1, 4, "refresh", 1, "issued"), one(2, 3, "refresh", 1, "lost"), one(5, 6, "verify", 2, gone), one(7, 8, "refresh", 2, "revoked"),
		}, true},
		"a token rotated twice":      {familyModel, []porcupine.Operation{one(1, 4, "refresh", 1, "issued"), one(2, 3, "refresh", 1, "issued")}, false},
		"a late revocation":          {familyModel, []porcupine.Operation{one(1, 2, "revoke", 0, "done"), one(3, 4, "verify", 1, live)}, false},
		"the old token lives on":     {familyModel, []porcupine.Operation{one(1, 2, "refresh", 1, "issued"), one(3, 4, "verify", 1, live)}, false},
		"a device":                   {deviceModel, []porcupine.Operation{one(1, 2, "poll", 1, "pending"), one(3, 6, "approve", 0, "done"), one(4, 7, "poll", 1, "issued"), one(5, 8, "poll", 2, "dead")}, true},
		"a device decided twice":     {deviceModel, []porcupine.Operation{one(1, 4, "approve", 0, "done"), one(2, 3, "deny", 0, "done")}, false},
		"a device collected twice":   {deviceModel, []porcupine.Operation{one(1, 2, "approve", 0, "done"), one(3, 6, "poll", 1, "issued"), one(4, 5, "poll", 2, "issued")}, false},
		"a session token":            {sessionModel, []porcupine.Operation{one(1, 4, "exchange", 1, "issued"), one(2, 3, "exchange", 2, "dead"), one(5, 6, "uninstall", 0, live), one(7, 8, "verify", 1, gone)}, true},
		"a session token used twice": {sessionModel, []porcupine.Operation{one(1, 4, "exchange", 1, "issued"), one(2, 3, "exchange", 2, "issued")}, false},
		"a token after the end":      {sessionModel, []porcupine.Operation{one(1, 2, "uninstall", 0, live), one(3, 4, "exchange", 1, "issued")}, false},
	} {
		if got := test.model.check(test.history); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A real history to which one winner is added is refused.
func TestForgedHistory(t *testing.T) {
	t.Parallel()
	w := newFixture(t, openSQLite(t))
	code := w.code(t)
	history := record(t, func(ctx context.Context, who int) (call, string, error) {
		response, err := w.present(ctx, w.of(who), code, newTokens())
		return call{"redeem", who}, response, err
	})
	if !codeModel.check(history) {
		t.Fatalf("refused as it was: %v", inOrder(history))
	}
	last := history[len(history)-1]
	last.Output = "issued"
	if codeModel.check(append(history, last)) {
		t.Error("a second winner was not noticed")
	}
}
