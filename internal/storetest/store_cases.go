package storetest

import (
	"github.com/partnerkit/partnerkit"
)

// group is the cases of one consumer of the store.
type group[S any] struct {
	name  string
	cases []testCase[S]
}

// storeGroups are the cases of every [partnerkit.Store].
var storeGroups = []group[partnerkit.Store]{
	{"oauthserver", joinCases(oauthCases, requestCases, secretCases, tokenCases, takeOverCases, refreshPurgeCases, keptCases, raceCases, crowdCases, killCases, eraseCases, importCases, assertionCases, customCases)},
	{"every consumer", cancelledCases},
	{"guard", joinCases(keyCases, limitCases)},
	{"analytics", callCases},
	{"events", joinCases(eventCases, eventOrderCases, appEventCases, ownerCases)},
	{"webhooks", sendingCases},
	{"appdata", joinCases(dataCases, dataEndCases, dataRaceCases)},
	{"console", joinCases(transactCases, consoleCases, consoleTokenCases, listingCases, itemCases, listingRaceCases)},
	{"operator", operatorCases},
}

// sendingCases are the cases of webhooks and their deliveries.
var sendingCases = joinCases(webhookCases, deliveryCases, deliveryListCases, deliveryPurgeCases, webhookRaceCases, planCases, queueCases, healthCases, shardCases)

// sqlCases are the cases of sqlstore on a database: what its methods beyond
// [partnerkit.Store] promise, faults at each statement, rows, costs and plans.
var sqlCases = joinCases(clockCases, joiningCases, sqlTransactCases,
	tableFaultCases(), sqlRefreshPurgeCases, lockCases, sqlEraseCases, sqlCallCases, sqlKeyCases, keyFaultCases,
	sqlEventCases, eventFaultCases, sqlSendingCases,
	sqlDataCases, sqlDataEndCases, sqlDataRaceCases, dataLockCases, dataCostCases,
	sqlConsoleCases, sqlListingCases, sqlListingRaceCases, listingLockCases)

var sqlSendingCases = joinCases(sqlWebhookCases, sqlDeliveryCases, purgeCases, webhookLockCases, webhookFaultCases,
	sqlPlanCases, sqlQueueCases, sqlShardCases)

func joinCases[S any](groups ...[]testCase[S]) []testCase[S] {
	var all []testCase[S]
	for _, group := range groups {
		all = append(all, group...)
	}
	return all
}
