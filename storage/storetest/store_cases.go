package storetest

// storeCases are the cases of every feature's store.
var storeCases = joinCases(clockCases, joiningCases, oauthCases, secretCases, tokenCases, raceCases, killCases, lockCases, faultCases, callCases, keyCases, keyFaultCases,
	eventCases, eventFaultCases, eventOrderCases,
	sendingCases,
	dataCases, dataEndCases, dataRaceCases, dataLockCases, dataFaultCases,
	consoleCases, listingCases, itemCases, listingRaceCases, listingLockCases, listingFaultCases)

// sendingCases are those of webhooks and their deliveries.
var sendingCases = joinCases(webhookCases, deliveryCases, purgeCases, webhookRaceCases, webhookLockCases, webhookFaultCases,
	planCases, queueCases, shardCases)

func joinCases[S any](groups ...[]testCase[S]) []testCase[S] {
	var all []testCase[S]
	for _, group := range groups {
		all = append(all, group...)
	}
	return all
}
