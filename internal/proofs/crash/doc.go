// Package crash kills the reference server and the services it depends on, and checks
// the server against the responses and deliveries that clients and receivers got.
//
// Four tests let processes die. Each covers moments of death and rules that the others
// cannot:
//
//	test                               what dies, and when                          what is checked
//	TestKills*, TestSoakNodes (here)   the reference server, at any moment of a     CODE-01, CODE-02, REF-01, REF-02, REF-07, REV-06, TX-04,
//	                                   load of all features; PostgreSQL and Redis   DEV-04, INST-01, INST-03, IDEM-01, IDEM-02, EVT-02, EVT-03,
//	                                   below it; TestFullDisk fills its disk        DLV-05: what was acknowledged is there, once and complete
//	webhooks.TestModel                 a sender at any call of its store, before or DLV-01: no retry is early; DLV-04, DLV-05: nothing is lost,
//	                                   after the call; dispatchers join and leave   and nothing is sent twice but what was in flight at a death
//	nodes.TestDispatchers              one of three nodes is killed, frozen or      DLV-05: the others send within the lease, and at once
//	                                   asked to stop in the middle of a burst       if the node was asked to stop
//	guard.TestCrash*, TestLateOwner*   the owner of an idempotency key, before the  IDEM-02: the work is done once, and the late owner is
//	                                   commit, between commit and response, and     refused
//	                                   while another request has taken over
//
// The second counts what each sender sent and what it had recorded, which cannot be seen from
// outside of the reference server. The last needs exact moments, which a signal does not hit.
package crash
