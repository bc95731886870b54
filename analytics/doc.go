// Package analytics counts the calls that apps make, and tells their developers.
//
// [Counter.Count] is called once for every call that was made with a token. It
// adds to a bucket in memory, one for each app and UTC hour, and returns: no
// database, no waiting, no error. [Counter.Run] writes the buckets to the store
// every few seconds and once more when it ends; the store adds them to what is
// there, so any number of nodes count together. [Counter.Report] and
// [Counter.Hours] read.
//
// # What is promised
//
// A count that reaches the store is there exactly once. Buckets leave memory in
// numbered batches; a batch that failed is tried again as it was, and the store
// keeps for each counter the number of the last batch, in the same transaction
// as its counts. So a batch whose commit succeeded while its reply was lost is
// recognized when it is sent again.
//
// A count may be lost in two ways. What is in memory when the process dies
// without an end to Run is gone: the calls of [Config.FlushEvery] or less, or
// of the time that the store could not be written. And memory is bounded: once
// [Config.MaxBuckets] wait for a store that does not take them, calls for which
// there is no bucket yet are dropped, which is logged and counted by a metric.
//
// # The request log
//
// The last calls of each app are kept too, for [RequestRetention] and at most
// [MaxRequests] of them: they are written in the same batches. Calls with a token that has
// expired or was revoked are in the log and are not counted. No body of a successful call
// is kept, and any text in the form of a token, a code or a secret is masked.
//
// Buckets are kept for [Retention], groups for [GroupRetention], then purged a few at a time.
package analytics
