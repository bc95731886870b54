package storetest_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/events/eventstore"
	"github.com/partnerkit/partnerkit/idempotency/keystore"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// wrongStores break one promise each. The suite must catch the store in the named case.
var wrongStores = []struct {
	breaks string // what the store does
	caught string // consumer/case
	wrap   func(partnerkit.Store) partnerkit.Store
}{
	{"two redeem a code", "oauthserver/Race for a code", func(s partnerkit.Store) partnerkit.Store { return twoRedeem{s} }},
	{"a replay leaves the family alive", "oauthserver/A family's chain", func(s partnerkit.Store) partnerkit.Store { return forgivingRefresh{s} }},
	{"ending a family does nothing", "oauthserver/Burn against a refresh", func(s partnerkit.Store) partnerkit.Store { return endlessFamily{s} }},
	{"a token outlives its installation", "oauthserver/Connecting again is a new installation", func(s partnerkit.Store) partnerkit.Store { return deafToken{s} }},
	{"two collect a device code", "oauthserver/Race for a device code", func(s partnerkit.Store) partnerkit.Store { return twoCollect{s} }},
	{"another business is named over an approval", "oauthserver/IT-01 Another business cannot be named while one has approved", func(s partnerkit.Store) partnerkit.Store { return renaming{s} }},
	{"an assertion is used twice", "oauthserver/CIMD-05 Race for an assertion", func(s partnerkit.Store) partnerkit.Store { return twoAssertions{s} }},
	{"two exchange a session token", "oauthserver/Race for a session token", func(s partnerkit.Store) partnerkit.Store { return twoExchange{s} }},
	{"a decided request is approved", "oauthserver/Race to decide a request", func(s partnerkit.Store) partnerkit.Store { return twiceDecided{s} }},
	{"the end of an installation is not recorded", "oauthserver/Connecting again is a new installation", func(s partnerkit.Store) partnerkit.Store { return silentEnd{s} }},
	{"every node rotates the signing key", "oauthserver/Signing keys", func(s partnerkit.Store) partnerkit.Store { return eagerKeys{s} }},
	{"the limit of secrets is ignored", "oauthserver/Race to add secrets", func(s partnerkit.Store) partnerkit.Store { return unlimitedSecrets{s} }},
	{"a purge comes a day early", "oauthserver/TOK-11 Purging", func(s partnerkit.Store) partnerkit.Store { return earlyPurge{s} }},
	{"an erased user keeps the tokens", "oauthserver/OPS-04 Erasing a user", func(s partnerkit.Store) partnerkit.Store { return forgetful{s} }},
	{"an error becomes ErrNotFound", "every consumer/A cancelled context starts nothing", func(s partnerkit.Store) partnerkit.Store { return hiddenError{s} }},
	{"a cancelled context is ignored", "every consumer/A cancelled context starts nothing", func(s partnerkit.Store) partnerkit.Store { return deafRecorder{s} }},
	{"a cancelled write leaves half of its values", "every consumer/A cancelled context starts nothing", func(s partnerkit.Store) partnerkit.Store { return halfWritten{s} }},
	{"two requests own an idempotency key", "guard/Of those who claim a key at once one owns it", func(s partnerkit.Store) partnerkit.Store { return twoOwners{s} }},
	{"a batch of calls counts twice", "analytics/A batch of calls that comes again changes nothing", func(s partnerkit.Store) partnerkit.Store { return doubleCount{s} }},
	{"events come out of order", "events/Numbers are given once, in order, to one business", func(s partnerkit.Store) partnerkit.Store { return unordered{s} }},
	{"the limit of webhooks is ignored", "webhooks/An app has only so many webhooks", func(s partnerkit.Store) partnerkit.Store { return unlimitedWebhooks{s} }},
	{"events of a transaction are lost", "events/Events that are recorded in a transaction share its end", func(s partnerkit.Store) partnerkit.Store { return lossyRecorder{s} }},
	{"two planners save one plan", "webhooks/Of several planners one queues", func(s partnerkit.Store) partnerkit.Store { return twicePlanned{s} }},
	{"a lost lease still records", "webhooks/A lost shard fences its holder", func(s partnerkit.Store) partnerkit.Store { return unfenced{s} }},
	{"deliveries are listed oldest first", "webhooks/Deliveries are listed newest first", func(s partnerkit.Store) partnerkit.Store { return oldestFirst{s} }},
	{"a purge of deliveries comes a day early", "webhooks/DLV-08 old deliveries are purged, oldest first and in any state", func(s partnerkit.Store) partnerkit.Store { return earlyPurge{s} }},
	{"deliveries are never purged", "webhooks/DLV-08 a deleted webhook is purged after its deliveries", func(s partnerkit.Store) partnerkit.Store { return noPurge{s} }},
	{"an app is read before it is locked", "console/Race to change an app", func(s partnerkit.Store) partnerkit.Store { return lostUpdate{s} }},
	{"the limit of apps is ignored", "oauthserver/An organization has only so many apps", func(s partnerkit.Store) partnerkit.Store { return unlimitedApps{s} }},
	{"a redelivery ignores its check", "webhooks/A redelivery that is refused changes nothing", func(s partnerkit.Store) partnerkit.Store { return uncheckedRedelivery{s} }},
	{"a value is deleted twice", "appdata/A value is deleted once", func(s partnerkit.Store) partnerkit.Store { return twiceDeleted{s} }},
	{"an asset that is shown may go", "console/An asset that a listing shows stays", func(s partnerkit.Store) partnerkit.Store { return unusedAssets{s} }},
	{"a refused step of a listing counts", "console/Race of steps", func(s partnerkit.Store) partnerkit.Store { return everyStep{s} }},
	{"Transact opens no transaction", "console/A function that fails takes its operations with it", func(s partnerkit.Store) partnerkit.Store { return untransacted{s} }},
}

type twoRedeem struct{ partnerkit.Store }

func (s twoRedeem) RedeemCode(ctx context.Context, code oauthstore.Code, m oauthstore.NewTokens) (oauthstore.IssueResult, error) {
	return won(s.Store.RedeemCode(ctx, code, m))
}

type twoCollect struct{ partnerkit.Store }

func (s twoCollect) CollectDevice(ctx context.Context, d oauthstore.DeviceCode, m oauthstore.NewTokens) (oauthstore.IssueResult, error) {
	return won(s.Store.CollectDevice(ctx, d, m))
}

type renaming struct{ partnerkit.Store }

func (s renaming) NameCustomBusiness(ctx context.Context, n oauthstore.NameCustomBusiness) (oauthstore.NamedCustomBusiness, error) {
	named, err := s.Store.NameCustomBusiness(ctx, n)
	if errors.Is(err, oauthstore.ErrConnectionExists) {
		err = nil
	}
	return named, err
}

type twoAssertions struct{ partnerkit.Store }

func (s twoAssertions) UseAssertion(ctx context.Context, a oauthstore.UsedAssertion) (bool, error) {
	_, err := s.Store.UseAssertion(ctx, a)
	return true, err
}

type twoExchange struct{ partnerkit.Store }

func (s twoExchange) ExchangeSession(ctx context.Context, x oauthstore.Exchange, m oauthstore.NewTokens) (oauthstore.IssueResult, error) {
	return won(s.Store.ExchangeSession(ctx, x, m))
}

// won tells a loser that it won.
func won(got oauthstore.IssueResult, err error) (oauthstore.IssueResult, error) {
	if got.Outcome == oauthstore.Lost {
		got.Outcome = oauthstore.Issued
	}
	return got, err
}

type forgetful struct{ partnerkit.Store }

func (forgetful) EraseUser(context.Context, oauthstore.EraseUser) (oauthstore.Erased, error) {
	return oauthstore.Erased{}, nil
}

type forgivingRefresh struct{ partnerkit.Store }

func (s forgivingRefresh) RotateRefresh(ctx context.Context, r oauthstore.Rotation, m oauthstore.NewTokens) (oauthstore.IssueResult, error) {
	if r.Token.Used {
		return oauthstore.IssueResult{Outcome: oauthstore.Lost}, nil
	}
	return s.Store.RotateRefresh(ctx, r, m)
}

type endlessFamily struct{ partnerkit.Store }

func (endlessFamily) EndFamily(context.Context, string, time.Time) (bool, error) { return true, nil }

type deafToken struct{ partnerkit.Store }

func (s deafToken) AccessToken(ctx context.Context, tokenID string, digest storage.Digest) (oauthstore.AccessToken, error) {
	token, err := s.Store.AccessToken(ctx, tokenID, digest)
	token.InstallationStatus = partner.InstallationActive
	return token, err
}

type twiceDecided struct{ partnerkit.Store }

func (s twiceDecided) DecideRequest(ctx context.Context, d oauthstore.Decision) (oauthstore.Approved, error) {
	got, err := s.Store.DecideRequest(ctx, d)
	if got.Outcome == oauthstore.ApprovalNotOpen {
		got.Outcome = oauthstore.ApprovalDone
	}
	return got, err
}

type silentEnd struct{ partnerkit.Store }

func (s silentEnd) EndInstallation(ctx context.Context, end oauthstore.EndInstallation) (partner.Installation, error) {
	end.Record = func(partner.Installation) []partner.Event { return nil }
	return s.Store.EndInstallation(ctx, end)
}

type eagerKeys struct{ partnerkit.Store }

func (s eagerKeys) AddSigningKey(ctx context.Context, key oauthstore.SigningKey, after string, retireOlder time.Time) error {
	err := s.Store.AddSigningKey(ctx, key, after, retireOlder)
	if errors.Is(err, partner.ErrNotFound) {
		return nil
	}
	return err
}

type unlimitedSecrets struct{ partnerkit.Store }

func (s unlimitedSecrets) ChangeClientSecrets(ctx context.Context, appID string, change func([]partner.ClientSecret) ([]partner.ClientSecret, error)) error {
	err := s.Store.ChangeClientSecrets(ctx, appID, change)
	if errors.Is(err, oauthstore.ErrTooManySecrets) {
		return nil
	}
	return err
}

type earlyPurge struct{ partnerkit.Store }

func (s earlyPurge) Purge(ctx context.Context, p storage.Purge) (int, error) {
	p.Before = p.Before.Add(24 * time.Hour)
	return s.Store.Purge(ctx, p)
}

type noPurge struct{ partnerkit.Store }

func (noPurge) Purge(context.Context, storage.Purge) (int, error) { return 0, nil }

type hiddenError struct{ partnerkit.Store }

func (s hiddenError) App(ctx context.Context, id string) (partner.App, error) {
	app, err := s.Store.App(ctx, id)
	if err != nil {
		err = partner.ErrNotFound
	}
	return app, err
}

// lossyRecorder loses what is recorded in a transaction.
type lossyRecorder struct{ partnerkit.Store }

func (lossyRecorder) RecordEventsIn(context.Context, storage.Tx, ...partner.Event) error { return nil }

type deafRecorder struct{ partnerkit.Store }

func (s deafRecorder) RecordEvents(ctx context.Context, recorded ...partner.Event) error {
	return s.Store.RecordEvents(context.WithoutCancel(ctx), recorded...)
}

// halfWritten ends a write whose context has ended after the first half.
type halfWritten struct{ partnerkit.Store }

func (s halfWritten) WriteValues(ctx context.Context, w valuestore.Write) ([]valuestore.Value, error) {
	if ctx.Err() == nil {
		return s.Store.WriteValues(ctx, w)
	}
	w.Drafts = w.Drafts[:len(w.Drafts)/2]
	_, err := s.Store.WriteValues(context.WithoutCancel(ctx), w)
	return nil, errors.Join(err, ctx.Err())
}

type twoOwners struct{ partnerkit.Store }

func (s twoOwners) ClaimKey(ctx context.Context, claim keystore.Claim) (keystore.Claimed, error) {
	got, err := s.Store.ClaimKey(ctx, claim)
	if got.State == keystore.Running {
		got.State = keystore.Owned
	}
	return got, err
}

type doubleCount struct{ partnerkit.Store }

func (s doubleCount) AddCalls(ctx context.Context, batch callstore.Batch) error {
	batch.Writer += time.Now().Format(time.RFC3339Nano)
	return s.Store.AddCalls(ctx, batch)
}

type unordered struct{ partnerkit.Store }

func (s unordered) Events(ctx context.Context, q eventstore.Query) ([]partner.Event, error) {
	page, err := s.Store.Events(ctx, q)
	slices.Reverse(page)
	return page, err
}

type unlimitedWebhooks struct{ partnerkit.Store }

func (s unlimitedWebhooks) CreateWebhook(ctx context.Context, w partner.Webhook, _ int) error {
	return s.Store.CreateWebhook(ctx, w, math.MaxInt32)
}

type twicePlanned struct{ partnerkit.Store }

func (s twicePlanned) SavePlan(ctx context.Context, p webhookstore.Plan) (bool, error) {
	_, err := s.Store.SavePlan(ctx, p)
	return err == nil, err
}

// unfenced records outcomes without checking which node holds the shard.
type unfenced struct{ partnerkit.Store }

func (s unfenced) FinishAttempts(ctx context.Context, f webhookstore.Finish) (webhookstore.Finished, error) {
	fleet, err := s.Beat(ctx, f.Node, time.Minute)
	if err != nil {
		return webhookstore.Finished{}, err
	}
	for i := range f.Outcomes {
		of := webhookstore.ShardID{Kind: webhookstore.SendShard, Number: webhookstore.ShardOf(f.Outcomes[i].Due.WebhookID, len(fleet.Shards)/2)}
		shard := fleet.Shards[slices.IndexFunc(fleet.Shards, func(s webhookstore.Shard) bool { return s.ShardID == of })]
		f.Outcomes[i].Epoch, f.Node = shard.Epoch, shard.Holder
	}
	return s.Store.FinishAttempts(ctx, f)
}

type oldestFirst struct{ partnerkit.Store }

func (s oldestFirst) Deliveries(ctx context.Context, q partner.DeliveryQuery) (partner.DeliveryPage, error) {
	page, err := s.Store.Deliveries(ctx, q)
	slices.Reverse(page.Deliveries)
	return page, err
}

type lostUpdate struct{ partnerkit.Store }

func (s lostUpdate) UpdateApp(ctx context.Context, id string, change func(partner.App) (partner.App, error)) (partner.App, error) {
	app, err := s.App(ctx, id)
	if err != nil {
		return app, err
	}
	if app, err = change(app); err != nil {
		return app, err
	}
	return s.Store.UpdateApp(ctx, id, func(partner.App) (partner.App, error) { return app, nil })
}

type untransacted struct{ partnerkit.Store }

func (untransacted) Transact(ctx context.Context, do func(ctx context.Context) error) error {
	return do(ctx)
}

type unlimitedApps struct{ partnerkit.Store }

func (s unlimitedApps) RegisterApp(ctx context.Context, r oauthstore.Registration) (partner.App, error) {
	r.MaxApps = 0
	return s.Store.RegisterApp(ctx, r)
}

type uncheckedRedelivery struct{ partnerkit.Store }

func (s uncheckedRedelivery) Redeliver(ctx context.Context, r webhookstore.Redelivery) ([]partner.Delivery, error) {
	r.Check = func(partner.Delivery, webhookstore.Standing) error { return nil }
	return s.Store.Redeliver(ctx, r)
}

type twiceDeleted struct{ partnerkit.Store }

func (s twiceDeleted) DeleteValue(ctx context.Context, r valuestore.Removal) error {
	err := s.Store.DeleteValue(ctx, r)
	if errors.Is(err, partner.ErrNotFound) {
		return nil
	}
	return err
}

type unusedAssets struct{ partnerkit.Store }

func (s unusedAssets) DeleteAsset(ctx context.Context, appID, assetID string) error {
	err := s.Store.DeleteAsset(ctx, appID, assetID)
	if errors.Is(err, consolestore.ErrAssetInUse) {
		return nil
	}
	return err
}

// everyStep reports success for steps that were refused.
type everyStep struct{ partnerkit.Store }

func (s everyStep) ChangeListing(ctx context.Context, appID string, step func(consolestore.ListingStanding) (consolestore.Revision, error)) (consolestore.Listing, error) {
	listing, _ := s.Store.ChangeListing(ctx, appID, step)
	return listing, nil
}
