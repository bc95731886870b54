package oauthserver_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/partnerkit/partnerkit/oauthserver"
)

// crowdStore lets nobody act before all have read what they act on, so that who wins a
// race, and whether there is one, is not left to the scheduler.
type crowdStore struct {
	oauthserver.Store
	meet func() // waits for all; nil: for nobody
}

func newCrowdKit(t testing.TB) (*apiKit, *crowdStore) {
	t.Helper()
	var crowd *crowdStore
	k := newAPIKit(t, func(c *oauthserver.Config) {
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

func (s *crowdStore) Code(ctx context.Context, digest oauthserver.Digest) (oauthserver.Code, error) {
	defer s.wait()
	return s.Store.Code(ctx, digest)
}

func (s *crowdStore) RefreshToken(ctx context.Context, tokenID string, digest oauthserver.Digest) (oauthserver.RefreshToken, error) {
	defer s.wait()
	return s.Store.RefreshToken(ctx, tokenID, digest)
}

func (s *crowdStore) DeviceByDigest(ctx context.Context, digest oauthserver.Digest) (oauthserver.DeviceCode, error) {
	defer s.wait()
	return s.Store.DeviceByDigest(ctx, digest)
}
