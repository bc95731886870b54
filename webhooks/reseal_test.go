package webhooks_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks"
)

// with is a node with other keys.
func (k *consoleHarness) with(keys ...byte) *webhooks.Service {
	k.Helper()
	s, err := webhooks.New(webhooks.Config{Store: k.Store, Keyring: fixture.Keyring(keys...), Clock: k.Clock})
	k.Must(err)
	return s
}

// SIG-04: with a new key in front, nodes that start at once seal everything with it; the
// secrets stay what they are, and afterwards the old key can go.
func TestReseal(t *testing.T) {
	t.Parallel()
	k := newConsole(t)
	var all []partner.Webhook
	for range 30 {
		w := k.hook(sampled)
		_, _, err := k.service.RotateSecret(t.Context(), k.app.ID, w.ID)
		k.Must(err)
		all = append(all, w)
		if len(all) == 20 {
			k.app = k.newApp()
		}
	}
	before := make([][]string, len(all))
	for i, w := range all {
		before[i] = k.signs(w)
	}
	nodes := []*webhooks.Service{k.with(2, 1), k.with(2, 1), k.with(2, 1)}
	rotated := all[7]
	var young string
	testdb.Race(len(nodes)+1, func(i int) {
		if i < len(nodes) {
			if err := nodes[i].Reseal(t.Context()); err != nil {
				t.Error(err)
			}
			return
		}
		var err error
		if young, _, err = k.with(2, 1).RotateSecret(t.Context(), rotated.AppID, rotated.ID); err != nil {
			t.Error(err)
		}
	})
	k.service = k.with(2)
	for i, w := range all {
		want := before[i]
		if w.ID == rotated.ID {
			want = []string{young, before[i][0]}
		}
		k.wantSigns(w, want...)
	}
	k.Store.Tap.Reset()
	k.Must(k.service.Reseal(t.Context()))
	if statements, commits := k.Store.Tap.Counts(); statements != 1 || commits != 0 {
		t.Errorf("sealed by the first key already: %d statements, %d commits", statements, commits)
	}
}

// A secret that no key opens is left unchanged and named; the others are resealed.
func TestResealWithoutItsKey(t *testing.T) {
	t.Parallel()
	k := newConsole(t)
	lost := k.hook(sampled)
	k.service = k.with(3)
	kept := k.hook(sampled)
	service, err := webhooks.New(webhooks.Config{Store: k.Store, Keyring: fixture.Keyring(2, 3)})
	k.Must(err)
	if err := service.Reseal(t.Context()); err == nil || !strings.Contains(err.Error(), lost.ID) {
		t.Errorf("the error does not name %s: %v", lost.ID, err)
	}
	k.service = k.with(2)
	k.signs(kept)
	got, err := k.service.Get(t.Context(), lost.AppID, lost.ID)
	k.Must(err)
	if !slices.Equal(got.Secret, lost.Secret) {
		t.Error("a secret that cannot be opened was changed")
	}
}
