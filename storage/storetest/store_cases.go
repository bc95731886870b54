package storetest

// storeCases are the cases of every feature's store.
var storeCases = joinCases(clockCases, joiningCases, transactCases, oauthCases, secretCases, mintCases, callCases, keyCases, keyFaultCases,
	eventCases, eventFaultCases, eventOrderCases,
	sendingCases,
	dataCases, dataEndCases, dataRaceCases, dataLockCases, dataFaultCases,
	consoleCases, listingCases, itemCases, listingRaceCases, listingLockCases, listingFaultCases)

// mintCases are those of what makes tokens and ends them.
var mintCases = joinCases(tokenCases, refreshPurgeCases, raceCases, crowdCases, killCases, lockCases, faultCases)

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
