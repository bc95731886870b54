package oauthserver_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/storage"
)

// crowdStore delays every write until all callers have read, so that each test has a race
// with the same contenders.
type crowdStore struct {
	oauthstore.Store
	meet func() // waits for all callers; nil: does not wait
}

func newCrowd(t testing.TB) (*apiHarness, *crowdStore) {
	t.Helper()
	var crowd *crowdStore
	k := newAPIHarness(t, func(c *oauthserver.Config) {
		crowd = &crowdStore{Store: c.Store}
		c.Store = crowd
	})
	return k, crowd
}

// expect makes the next n readers wait for each other.
func (s *crowdStore) expect(n int) {
	var missing atomic.Int64
	missing.Store(int64(n))
	all := make(chan struct{})
	s.meet = func() {
		switch left := missing.Add(-1); {
		case left == 0:
			close(all)
		case left > 0:
			<-all
		}
	}
}

func (s *crowdStore) wait() {
	if s.meet != nil {
		s.meet()
	}
}

func (s *crowdStore) Code(ctx context.Context, digest storage.Digest) (oauthstore.Code, error) {
	defer s.wait()
	return s.Store.Code(ctx, digest)
}

func (s *crowdStore) RefreshToken(ctx context.Context, tokenID string, digest storage.Digest) (oauthstore.RefreshToken, error) {
	defer s.wait()
	return s.Store.RefreshToken(ctx, tokenID, digest)
}

func (s *crowdStore) Device(ctx context.Context, digest storage.Digest) (oauthstore.DeviceCode, error) {
	defer s.wait()
	return s.Store.Device(ctx, digest)
}
