package sandbox

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/internal/seed"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks"
)

// readFixtures reads the file of -fixtures, or those of the program. Outside development mode
// these get passwords and secrets that are not in the source.
func (p Program) readFixtures(path string, isDev bool) (seed.Data, error) {
	text, origin := p.Fixtures, seed.DemoOrigin
	if path != "" {
		var err error
		if text, err = os.ReadFile(path); err != nil {
			return seed.Data{}, fmt.Errorf("-fixtures: %w", err)
		}
		origin = path
	}
	if text == nil {
		return seed.Data{Origin: seed.DemoOrigin}, nil // see defaultData
	}
	data, err := seed.Parse(text, origin)
	if err != nil {
		return data, fmt.Errorf("-fixtures %s: %w", cmp.Or(path, "of the program"), err)
	}
	if path == "" && !isDev {
		data = data.WithFreshSecrets()
	}
	return data, nil
}

// fill loads the fixtures into an empty database, and returns those whose sign-ins and
// secrets may be shown: just loaded, or those of the program, whose secrets are public.
func (s *server) fill(ctx context.Context, data seed.Data) (shown *seed.Data, err error) {
	if ahead := s.clock.Ahead(); ahead > 0 {
		s.log.WarnContext(ctx, "the clock of this database was moved", "ahead", ahead)
	}
	catalog := s.platform.Events().Catalog()
	if data.Apps == nil && data.Users == nil && data.IsDemo() {
		data = defaultData(s.cfg)
	}
	if err := data.Check(s.cfg.Scopes, catalog); err != nil {
		return nil, fmt.Errorf("-fixtures %s: %w", data.Origin, err)
	}
	if s.own != nil {
		s.own.set(data)
	}
	origin, err := s.people.Origin(ctx)
	if err == nil && origin == "" {
		filled, err := s.load(ctx, data)
		if err != nil {
			return nil, err
		}
		debug.FreeOSMemory() // hashing passwords took more than anything that follows
		if filled {
			return &data, nil
		}
		origin, err = s.people.Origin(ctx) // another node was faster
		if err != nil {
			return nil, err
		}
	}
	if err == nil && s.isDev && origin == seed.DemoOrigin && data.IsDemo() {
		return &data, nil
	}
	return nil, err
}

// load fills the database. It adds the secrets that data lacks.
func (s *server) load(ctx context.Context, data seed.Data) (filled bool, err error) {
	data.MakeSecrets()
	text, err := json.Marshal(data)
	if err != nil {
		return false, err
	}
	target := seed.Target{
		Store: s.store, Now: s.clock.Now(),
		Webhooks: webhooks.Config{Keyring: s.ring, Clock: s.clock, Catalog: s.platform.Events().Catalog(), Options: webhooks.Options{AllowLoopback: s.isDev}},
		AppData:  appdata.Config{Records: s.cfg.Records, Clock: s.clock},
	}
	return s.people.Fill(ctx, data.Origin, text, func(tx storage.Tx) error { return data.LoadApps(ctx, tx, target) })
}
