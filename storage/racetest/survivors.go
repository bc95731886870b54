package racetest

import (
	"context"
	"errors"

	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// liveTokens are the ids of the access and refresh tokens that the store takes,
// which must be those that the rows say are alive.
func (w *world) liveTokens(ctx context.Context, s *sqlstore.Store, v *verdict, rows facts) (map[string]bool, error) {
	live := map[string]bool{}
	for _, m := range w.mints() {
		access, ok := rows.find(m.AccessID)
		if !ok {
			continue
		}
		token, err := s.AccessToken(ctx, m.AccessID, m.AccessDigest)
		if err != nil {
			return nil, err
		}
		if live[m.AccessID] = token.IsLive(noon); live[m.AccessID] != rows.isLive(access) {
			v.add("the store takes %s: %v, and its rows say otherwise", w.name(m.AccessID), live[m.AccessID])
		}
		row, ok := rows.find(m.RefreshID)
		if !ok {
			continue
		}
		refresh, err := s.RefreshToken(ctx, m.RefreshID, m.RefreshDigest)
		if err != nil {
			return nil, err
		}
		family, _ := rows.find(row.family)
		if live[m.RefreshID] = !refresh.Used && refresh.IsAlive(); live[m.RefreshID] != (row.state == "open" && rows.stands(family.id, family.installation, family.grant)) {
			v.add("the store takes %s: %v, and its rows say otherwise", w.name(m.RefreshID), live[m.RefreshID])
		}
	}
	return live, nil
}

func (w *world) mints() []oauthserver.NewTokens {
	all := []oauthserver.NewTokens{w.old}
	if w.current.AccessID != w.old.AccessID {
		all = append(all, w.current)
	}
	for _, l := range w.lanes {
		all = append(all, l.mint)
	}
	return all
}

// ended says which tokens an act that was answered so has ended.
func (w *world) ended(c contender, rows facts) func(token fact) bool {
	first := w.connected
	family := func(id string) func(fact) bool { return func(t fact) bool { return id != "" && t.family == id } }
	switch c.act.name + ": " + string(c.answer) {
	case suspend + ": done", deactivate + ": done":
		return func(fact) bool { return true }
	case uninstall + ": done", revokeAccess + ": done":
		return func(t fact) bool { return t.installation == first.Installation.ID }
	case revokeConsent + ": done":
		return func(t fact) bool { return t.grant == first.Grant.ID }
	case refresh + ": used", replay + ": used", revoke + ": done":
		return family(w.old.FamilyID)
	case redeem + ": used":
		code, _ := rows.find(w.freshCode.id)
		return family(code.family)
	case burn + ": used":
		code, _ := rows.find(w.usedCode.id)
		if w.freshCode.id != "" {
			code, _ = rows.find(w.freshCode.id)
		}
		return family(code.family)
	case revokeOne + ": done":
		return func(t fact) bool { return t.id == w.current.AccessID }
	}
	return func(fact) bool { return false }
}

// survivors: nothing that was ended is taken, whatever the order was. The first
// of the ends of an installation or a consent ended the one of the world: there is
// no other until it has.
func (w *world) survivors(v *verdict, rows facts, live map[string]bool, all []contender) {
	for _, c := range all {
		over := w.ended(c, rows)
		for _, t := range rows {
			token := t
			if t.kind == "refresh" {
				family, _ := rows.find(t.family)
				token.installation, token.grant = family.installation, family.grant
			}
			if live[t.id] && over(token) {
				v.add("survivor: %s, after %s was done", w.name(t.id), c.act.name)
			}
		}
	}
}

// lastRefresh tries what is unused and dead by its rows, one last time: the world
// ends with it.
func (w *world) lastRefresh(ctx context.Context, s *sqlstore.Store, v *verdict) error {
	for _, m := range w.mints() {
		row, ok := v.rows.find(m.RefreshID)
		if !ok || row.state == "used" {
			continue
		}
		family, _ := v.rows.find(row.family)
		if v.rows.stands(family.id, family.installation, family.grant) {
			continue
		}
		token, err := s.RefreshToken(ctx, m.RefreshID, m.RefreshDigest)
		if err != nil {
			return err
		}
		got, err := s.RotateRefresh(ctx, oauthserver.Rotation{Token: token}, w.newLane("afterwards").mint)
		if err != nil && !errors.Is(err, oauthserver.ErrNotFound) {
			return err
		}
		if got.Outcome == oauthserver.Issued {
			v.add("survivor: %s still refreshes", w.name(m.RefreshID))
		}
	}
	return nil
}
