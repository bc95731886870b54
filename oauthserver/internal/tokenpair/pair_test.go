package tokenpair_test

import (
	"bytes"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver/internal/tokenpair"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSeal(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	pair, presented := tokenpair.New(now), tokenpair.New(now).Refresh
	tokenID := presented.TokenID()
	sealed, err := pair.Seal(presented, tokenID, "invoices:read")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("REF-08 the presented token opens the pair", func(t *testing.T) {
		t.Parallel()
		got, scope, err := tokenpair.Unseal(presented, tokenID, sealed)
		if err != nil || scope != "invoices:read" || got.Access.Reveal() != pair.Access.Reveal() || got.Refresh.Reveal() != pair.Refresh.Reveal() {
			t.Errorf("%v, %v", got, err)
		}
	})
	t.Run("REF-08 nothing else opens it", func(t *testing.T) {
		t.Parallel()
		if bytes.Contains(sealed, []byte(pair.Access.Reveal())) {
			t.Error("the access token is readable")
		}
		other := secret.NewToken(secret.RefreshToken, tokenID)
		if _, _, err := tokenpair.Unseal(other, tokenID, sealed); err == nil {
			t.Error("another token opened it")
		}
		if _, _, err := tokenpair.Unseal(presented, id.New(id.Token, now), sealed); err == nil {
			t.Error("it opened for another record")
		}
		if _, _, err := tokenpair.Unseal(presented, tokenID, sealed[:len(sealed)-1]); err == nil {
			t.Error("a cut pair opened")
		}
	})
}
