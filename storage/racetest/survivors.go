package racetest

import (
	"context"
	"errors"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/internal/storetest"
	"github.com/partnerkit/partnerkit/oauthserver"
)

// liveTokens returns the ids of the access and refresh tokens that the store accepts. They
// must be the tokens that are alive according to the rows.
func (sc *scenario) liveTokens(ctx context.Context, s partnerkit.Store, v *findings, rows facts) (map[string]bool, error) {
	live := map[string]bool{}
	for _, m := range sc.tokens() {
		access, ok := rows.find(m.AccessID)
		if !ok {
			continue
		}
		token, err := s.AccessToken(ctx, m.AccessID, m.AccessDigest)
		if err != nil {
			return nil, err
		}
		if live[m.AccessID] = token.IsLive(storetest.Noon); live[m.AccessID] != rows.isLive(access) {
			v.add("the store takes %s: %v, and its rows say otherwise", sc.name(m.AccessID), live[m.AccessID])
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
			v.add("the store takes %s: %v, and its rows say otherwise", sc.name(m.RefreshID), live[m.RefreshID])
		}
	}
	return live, nil
}

func (sc *scenario) tokens() []oauthserver.NewTokens {
	all := []oauthserver.NewTokens{sc.Connection.Old}
	if sc.Connection.Current.AccessID != sc.Connection.Old.AccessID {
		all = append(all, sc.Connection.Current)
	}
	for _, l := range sc.Connection.Issues {
		all = append(all, l.Tokens)
	}
	return all
}

// ended returns a function that reports whether a token was ended by this result.
func (sc *scenario) ended(c result, rows facts) func(token fact) bool {
	first := sc.Connection.Connected
	family := func(id string) func(fact) bool { return func(t fact) bool { return id != "" && t.family == id } }
	switch c.operation.name + ": " + string(c.answer) {
	case suspend + ": done", deactivate + ": done":
		return func(fact) bool { return true }
	case uninstall + ": done", revokeAccess + ": done":
		return func(t fact) bool { return t.installation == first.Installation.ID }
	case revokeConsent + ": done":
		return func(t fact) bool { return t.grant == first.Grant.ID }
	case refresh + ": used", replay + ": used", revoke + ": done":
		return family(sc.Connection.Old.FamilyID)
	case redeem + ": used":
		code, _ := rows.find(sc.Connection.FreshCode.ID)
		return family(code.family)
	case burn + ": used":
		code, _ := rows.find(sc.Connection.UsedCode.ID)
		if sc.Connection.FreshCode.ID != "" {
			code, _ = rows.find(sc.Connection.FreshCode.ID)
		}
		return family(code.family)
	case revokeOne + ": done":
		return func(t fact) bool { return t.id == sc.Connection.Current.AccessID }
	}
	return func(fact) bool { return false }
}

// survivors checks that no ended token is accepted, in any order. The first operation that
// ends an installation or a consent ends the one that the scenario created: no other exists
// before.
func (sc *scenario) survivors(v *findings, rows facts, live map[string]bool, all []result) {
	for _, c := range all {
		over := sc.ended(c, rows)
		for _, t := range rows {
			token := t
			if t.kind == "refresh" {
				family, _ := rows.find(t.family)
				token.installation, token.grant = family.installation, family.grant
			}
			if live[t.id] && over(token) {
				v.add("survivor: %s, after %s was done", sc.name(t.id), c.operation.name)
			}
		}
	}
}

// lastRefresh tries to use each refresh token that is unused and dead according to its
// rows. It changes the scenario, so it runs last.
func (sc *scenario) lastRefresh(ctx context.Context, s partnerkit.Store, v *findings) error {
	if sc.Connection == nil {
		return nil
	}
	for _, m := range sc.tokens() {
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
		got, err := s.RotateRefresh(ctx, oauthserver.Rotation{Token: token}, sc.Connection.NewIssue("afterwards").Tokens)
		if err != nil && !errors.Is(err, oauthserver.ErrNotFound) {
			return err
		}
		if got.Outcome == oauthserver.Issued {
			v.add("survivor: %s still refreshes", sc.name(m.RefreshID))
		}
	}
	return nil
}
