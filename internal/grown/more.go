package grown

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/lifetimes"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// The example of RFC 7636, appendix B.
const (
	verifier  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
)

func (s *Service) approval(request string, now time.Time) oauthstore.Decision {
	return oauthstore.Decision{
		RequestID: request, UserID: fmt.Sprint("new_", s.turn()), BusinessID: s.business(), InstallationID: id.New(id.Installation, now), GrantID: id.New(id.Grant, now), Now: now,
		Check:  func(partner.App) oauthstore.ApprovalOutcome { return oauthstore.ApprovalDone },
		Record: func(oauthstore.Approved) []partner.Event { return nil },
	}
}

func done(approved oauthstore.Approved, err error) error {
	if err == nil && approved.Outcome != oauthstore.ApprovalDone {
		err = fmt.Errorf("approval ended with %q", approved.Outcome)
	}
	return err
}

// Exchange asks, approves and exchanges the code.
func (s *Service) Exchange(ctx context.Context) error {
	now, client := time.Now(), s.apps[s.turn()%len(s.apps)]
	asked, code := secret.New(secret.ConsentRequest), secret.New(secret.AuthorizationCode)
	request := oauthstore.AuthorizationRequest{
		ID: id.New(id.Authorization, now), Digest: asked.Digest(), AppID: client.id, RedirectURI: redirectURI,
		CodeChallenge: challenge, Scopes: scopes, CreatedAt: now, ExpiresAt: now.Add(lifetimes.Request),
	}
	if err := s.Store.HoldRequest(ctx, request); err != nil {
		return err
	}
	if _, err := s.Store.Request(ctx, asked.Digest()); err != nil {
		return err
	}
	approval := s.approval(request.ID, now)
	approval.Code = oauthstore.NewCode{ID: id.New(id.Code, now), Digest: code.Digest(), ExpiresAt: now.Add(time.Minute)}
	if err := done(s.Store.DecideRequest(ctx, approval)); err != nil {
		return err
	}
	form := url.Values{"grant_type": {"authorization_code"}, "code": {code.Reveal()}, "redirect_uri": {redirectURI}, "code_verifier": {verifier}}
	return s.send(ctx, http.MethodPost, "/oauth/token", form.Encode(), client.post(), http.StatusOK, nil)
}

// Device begins on a device, approves, polls and collects.
func (s *Service) Device(ctx context.Context) error {
	now, code := time.Now(), secret.New(secret.DeviceCode)
	device := oauthstore.DeviceCode{ID: id.New(id.Device, now), UserCode: fmt.Sprint("user_", s.turn()), Scopes: scopes, CreatedAt: now, ExpiresAt: now.Add(time.Minute)}
	device.AppID = s.apps[0].id
	if err := s.Store.CreateDevice(ctx, device, code.Digest()); err != nil {
		return err
	}
	if _, err := s.Store.DeviceByUserCode(ctx, device.UserCode); err != nil {
		return err
	}
	if _, err := s.Store.PollDevice(ctx, device.ID, now, time.Second); err != nil {
		return err
	}
	if err := done(s.Store.DecideDevice(ctx, s.approval(device.ID, now))); err != nil {
		return err
	}
	found, err := s.Store.Device(ctx, code.Digest())
	if err != nil {
		return err
	}
	issued, err := s.Store.CollectDevice(ctx, found, oauthstore.NewTokens{
		Now: now, FamilyID: id.New(id.Family, now), AccessID: id.New(id.Token, now), AccessDigest: secret.New(secret.AccessToken).Digest(), AccessExpires: now.Add(time.Hour),
		RefreshID: id.New(id.Token, now), RefreshDigest: secret.New(secret.RefreshToken).Digest(), RefreshExpires: now.Add(time.Hour),
	})
	if err == nil && issued.Outcome != oauthstore.Issued {
		err = fmt.Errorf("collecting ended with %q", issued.Outcome)
	}
	return err
}

// Revoke ends a token, as RFC 7009 has it.
func (s *Service) Revoke(ctx context.Context) error {
	t := &s.tokens[len(s.tokens)-1]
	s.tokens = s.tokens[:len(s.tokens)-1]
	for _, text := range []string{t.access, t.refresh} {
		if err := s.send(ctx, http.MethodPost, "/oauth/revoke", url.Values{"token": {text}}.Encode(), s.appOf(t).post(), http.StatusOK, nil); err != nil {
			return err
		}
	}
	return nil
}

// RevokeUnlocated is Revoke for tokens that carry no id; there are none.
func (s *Service) RevokeUnlocated(ctx context.Context) error {
	for _, kind := range []secret.Kind{secret.AccessToken, secret.RefreshToken} {
		form := url.Values{"token": {secret.New(kind).Reveal()}}
		if err := s.send(ctx, http.MethodPost, "/oauth/revoke", form.Encode(), s.apps[0].post(), http.StatusOK, nil); err != nil {
			return err
		}
	}
	return nil
}

// Replay presents a refresh token that is not there, as one is that was used long ago.
func (s *Service) Replay(ctx context.Context) error {
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {secret.NewToken(secret.RefreshToken, id.New(id.Token, s.now)).Reveal()}}
	return s.send(ctx, http.MethodPost, "/oauth/token", form.Encode(), s.apps[0].post(), http.StatusBadRequest, nil)
}

// Uninstall ends an installation and everything that depends on it, up to its redaction.
func (s *Service) Uninstall(ctx context.Context) error {
	j := s.installations() - 1 - s.turn()%100
	app, business, now := s.apps[j%len(s.apps)].id, fmt.Sprint("business_", j/10), time.Now()
	if _, err := s.Store.Installations(ctx, partner.InstallationQuery{BusinessID: business}); err != nil {
		return err
	}
	if err := s.Store.EndGrant(ctx, oauthstore.EndGrant{AppID: app, BusinessID: business, UserID: fmt.Sprint("user_", j), Now: now}); err != nil {
		return err
	}
	_, err := s.Store.EndInstallation(ctx, oauthstore.EndInstallation{
		AppID: app, BusinessID: business, Status: partner.InstallationRemoved, Now: now, RedactAt: now.Add(-time.Second),
		Record: func(partner.Installation) []partner.Event { return nil },
	})
	if err != nil {
		return err
	}
	n, err := s.Store.RecordRedactions(ctx, now, 10, func(partner.Installation) []partner.Event { return nil })
	if err == nil && n != 1 {
		err = fmt.Errorf("%d redactions", n)
	}
	if err != nil {
		return err
	}
	_, err = s.Store.Purge(ctx, storage.Purge{Kind: storage.PurgeAppData, Limit: 3})
	return err
}

// Event reads one event.
func (s *Service) Event(ctx context.Context) error {
	return s.send(ctx, http.MethodGet, "/events/"+s.id(id.Event, 2*(s.turn()%(s.n/2))), "", bearer(s.tokens[0].access), http.StatusOK, nil)
}

// Number numbers what was recorded, as a reader does who comes before the planner.
func (s *Service) Number(ctx context.Context) error {
	recorded, err := s.record(ctx)
	if err != nil {
		return err
	}
	_, err = s.Store.NumberEvents(ctx, recorded[0].BusinessID)
	return err
}

// Probe runs the queries of a dispatcher that starts or has no due deliveries.
func (s *Service) Probe(ctx context.Context) error {
	now, shards := time.Now(), make([]int, webhookstore.DefaultShards)
	for i := range shards {
		shards[i] = i
	}
	_, err := s.Store.DueWebhooks(ctx, shards, now.Add(-time.Minute), now)
	if err != nil {
		return err
	}
	if _, err := s.Store.Backlogs(ctx, nil); err != nil {
		return err
	}
	news, err := s.Store.News(ctx, nil)
	if err != nil {
		return err
	}
	if _, err := s.Store.News(ctx, news.Place); err != nil {
		return err
	}
	all, err := s.Store.QueuedWebhooks(ctx, nil)
	if err == nil && len(all) != len(s.hooks) {
		err = fmt.Errorf("%d webhooks have something queued", len(all))
	}
	return err
}

// node is a dispatcher.
const node = "node"

// hold takes every shard that is free, and returns all with their epochs.
func (s *Service) hold(ctx context.Context) (map[webhookstore.ShardID]int64, error) {
	fleet, err := s.Store.Beat(ctx, node, time.Minute)
	if err != nil {
		return nil, err
	}
	epochs := map[webhookstore.ShardID]int64{}
	for _, shard := range fleet.Shards {
		epochs[shard.ShardID] = shard.Epoch
		if shard.Holder == node {
			continue
		}
		if _, err := s.Store.TakeShard(ctx, node, shard, time.Minute); err != nil {
			return nil, err
		}
		epochs[shard.ShardID]++
	}
	return epochs, nil
}

// Finish claims deliveries and records that they were sent: all but one, which is to be
// retried, and one that has failed permanently.
func (s *Service) Finish(ctx context.Context) error {
	now := time.Now()
	epochs, err := s.hold(ctx)
	if err != nil {
		return err
	}
	due, err := s.claim(ctx)
	if err != nil {
		return err
	}
	f := webhookstore.Finish{Node: node, Now: now}
	for i, one := range due {
		o := webhookstore.Outcome{Due: one, Epoch: epochs[webhookstore.ShardID{Kind: webhookstore.SendShard, Number: webhookstore.ShardOf(one.WebhookID, webhookstore.DefaultShards)}], Status: partner.DeliveryDelivered, Attempts: 1, ResponseCode: 200}
		o.Attempt = &partner.Attempt{ID: id.New(id.Attempt, now), Number: 1, Signature: "t=1,v1=0", StartedAt: now, ResponseCode: 200, ResponseBody: []byte("ok")}
		switch i {
		case 0:
			o.Status, o.NextAttemptAt = partner.DeliveryRetrying, now.Add(time.Minute)
		case 1:
			o.Status, o.Attempts, o.IsExhausted = partner.DeliveryFailed, 6, true
		}
		f.Outcomes = append(f.Outcomes, o)
	}
	finished, err := s.Store.FinishAttempts(ctx, f)
	if err == nil && len(finished.Held) == 0 {
		err = errors.New("the node holds no shard")
	}
	return err
}

// Delivery reads one delivery and resends a failed one.
func (s *Service) Delivery(ctx context.Context) error {
	row := 100*(s.turn()%(s.n/100)) + 3
	hook := s.hooks[1+row/2%(len(s.hooks)-1)]
	if _, _, err := s.Platform.Webhooks().Delivery(ctx, hook.AppID, hook.ID, s.id(id.Delivery, row)); err != nil {
		return err
	}
	_, err := s.Store.Redeliver(ctx, webhookstore.Redelivery{
		AppID: hook.AppID, WebhookID: hook.ID, DeliveryIDs: []string{s.id(id.Delivery, row)}, From: partner.DeliveryFailed, Now: time.Now(),
		Check: func(partner.Delivery, webhookstore.Standing) error { return nil },
	})
	return err
}

// WriteAppData writes values and deletes one of them, with a key that makes it safe to
// repeat, and repeats it.
func (s *Service) WriteAppData(ctx context.Context) error {
	turn := s.turn()
	resource := fmt.Sprint("invoice_", turn%(s.n/4))
	body := fmt.Sprintf(`{"values":[{"resourceType":"invoice","resourceId":%q,"key":"a","value":"new"},{"resourceType":"invoice","resourceId":"fresh_%d","key":"b","value":"new"}]}`, resource, turn)
	header := bearer(s.tokens[0].access)
	header.Set("Content-Type", "application/json")
	header.Set("Idempotency-Key", fmt.Sprint("key_", turn))
	var got struct{ Values []struct{ ID string } }
	for range 2 {
		if err := s.send(ctx, http.MethodPut, "/app-data", body, header.Clone(), http.StatusOK, &got); err != nil {
			return err
		}
	}
	if len(got.Values) != 2 {
		return fmt.Errorf("%d values were written", len(got.Values))
	}
	return s.send(ctx, http.MethodDelete, "/app-data/"+got.Values[0].ID, "", bearer(s.tokens[0].access), http.StatusNoContent, nil)
}

// Repeatable makes a call with a key, twice.
func (s *Service) Repeatable(ctx context.Context) error {
	header := bearer(s.tokens[0].access)
	header.Set("Idempotency-Key", fmt.Sprint("call_", s.turn()))
	for range 2 {
		if err := s.send(ctx, http.MethodPost, "/invoices", "", header.Clone(), http.StatusNoContent, nil); err != nil {
			return err
		}
	}
	return nil
}

// EndAppData ends a space and a field, and purges what they had.
func (s *Service) EndAppData(ctx context.Context) error {
	last := s.apps[len(s.apps)-1]
	err := s.Store.ChangeFields(ctx, last.id, time.Now(), func(all []valuestore.Field) ([]valuestore.Field, error) {
		return slices.DeleteFunc(all, func(f valuestore.Field) bool { return f.ID == last.fields[0] }), nil
	})
	if err != nil {
		return err
	}
	n, err := s.Store.Purge(ctx, storage.Purge{Kind: storage.PurgeAppData, Limit: 10})
	if err == nil && n != 10 {
		err = fmt.Errorf("%d values purged", n)
	}
	return err
}

// Count adds calls, and reads them.
func (s *Service) Count(ctx context.Context) error {
	now := time.Now()
	batch := callstore.Batch{Writer: node, Number: int64(s.turn()), At: now, Buckets: []callstore.Bucket{{AppID: s.apps[0].id, Hour: now.Truncate(time.Hour), Counts: callstore.Counts{Calls: 1}}},
		Uses: map[string]time.Time{s.id(id.Installation, 1): now}}
	if err := s.Store.AddCalls(ctx, batch); err != nil {
		return err
	}
	if _, err := s.Store.CallGroups(ctx, callstore.GroupQuery{AppID: s.apps[0].id, By: callstore.ByRoute, From: now.Add(-24 * time.Hour), To: now, Limit: 100}); err != nil {
		return err
	}
	if _, err := s.Store.Usage(ctx, callstore.UsageQuery{AppID: s.apps[0].id, From: now.Add(-24 * time.Hour), To: now, Limit: 100}); err != nil {
		return err
	}
	if _, err := s.Store.Requests(ctx, callstore.RequestQuery{AppID: s.apps[0].id, MinStatus: 400, MaxStatus: 499, Limit: 50}); err != nil {
		return err
	}
	if _, err := s.Store.TrimRequests(ctx, s.apps[0].id, analytics.MaxRequests, 500); err != nil {
		return err
	}
	if _, err := s.Store.Calls(ctx, s.apps[0].id, now.Add(-24*time.Hour), now); err != nil {
		return err
	}
	_, err := s.Store.LastUses(ctx, []string{s.id(id.Installation, 1)})
	return err
}

// ConsoleTokens creates a console token, finds it, lists those of its organization, and
// revokes it.
func (s *Service) ConsoleTokens(ctx context.Context) error {
	now := time.Now()
	token := consolestore.Token{
		ID: id.New(id.ConsoleToken, now), Digest: secret.New(secret.ConsoleToken).Digest(), OrganizationID: "org_1",
		UserID: "user_1", Name: "ci", CreatedAt: now, ExpiresAt: now.Add(time.Hour),
	}
	if err := s.Store.CreateConsoleToken(ctx, token, 100); err != nil {
		return err
	}
	if _, err := s.Store.ConsoleToken(ctx, token.Digest); err != nil {
		return err
	}
	if _, err := s.Store.ConsoleTokens(ctx, token.OrganizationID); err != nil {
		return err
	}
	_, err := s.Store.RevokeConsoleToken(ctx, token.OrganizationID, token.ID, now)
	return err
}

// Audit writes into the log, and reads it.
func (s *Service) Audit(ctx context.Context) error {
	now := time.Now()
	if err := s.Store.RecordAudit(ctx, audit.Entry{ID: id.New(id.Audit, now), AppID: s.apps[0].id, UserID: "user_1", Action: audited.Uninstalled, At: now}); err != nil {
		return err
	}
	if _, err := s.Store.Audit(ctx, audit.Query{AppID: s.apps[0].id, Limit: 50}); err != nil {
		return err
	}
	_, err := s.Store.Audit(ctx, audit.Query{OrganizationIDs: []string{"org_1"}, Limit: 50})
	return err
}

// Installations lists an app's installations and those of a business, a page each.
func (s *Service) Installations(ctx context.Context) error {
	if _, err := s.Store.Installations(ctx, partner.InstallationQuery{AppID: s.apps[0].id, After: s.id(id.Installation, 1), Limit: 50}); err != nil {
		return err
	}
	if _, err := s.Store.BusinessInstallations(ctx, s.apps[0].id, s.business(), 50); err != nil {
		return err
	}
	_, err := s.Store.Installations(ctx, partner.InstallationQuery{BusinessID: s.business(), Limit: 50})
	return err
}
