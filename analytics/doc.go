// Package analytics counts the API calls of apps, for their developers.
//
// The guard calls [Counter.Count] once for every call that was made with a token. Count adds to a
// bucket in memory, one for each app and UTC hour. It does not block and returns no error.
// [Counter.Run] writes the buckets to the store every few seconds and once more when it ends.
// The store adds them to the existing counts, so any number of nodes count together.
// [Counter.Report] and [Counter.Hours] read the counts.
//
// # Guarantees
//
// A count that reaches the store is stored exactly once. Buckets leave memory in numbered
// batches. A batch that failed is sent again unchanged, and the store keeps the number of the
// last batch of each counter, in the same transaction as the counts. So a batch that was
// committed although its result was lost is recognized when it is sent again.
//
// Counts are lost in two cases. If the process dies before Run has ended, the counts in memory
// are lost: those since the last successful write, usually at most [Config.FlushEvery] ago. And
// memory is bounded: while [Config.MaxBuckets] buckets wait because the store cannot be written,
// calls that would need a new bucket are dropped, which is logged and counted by a metric.
//
// # Usage
//
// [Counter.Usage] returns the calls, the errors and the bytes of the response bodies of an app by
// business and UTC day, for plans and bills. Bytes are those that were written to the response:
// headers and the framing of a transfer do not count, nor what the response to a HEAD request
// would contain. Of a response that was cut off all that was written before counts.
//
// # The request log
//
// The most recent calls of each app are stored too, in the same batches: at most [MaxRequests],
// for requestRetention. The request log includes calls with a token that has expired or was
// revoked, which are not counted. The body of a successful call is not stored, and text that
// looks like a token, a code or a secret is masked: cut off, broken into lines, escaped as in a
// URL, JSON or HTML, or in base64 too. A PKCE verifier has no prefix, so a long run of letters
// and digits in an error is masked as well.
//
// Buckets and usage are kept for [Config.Retention], groups by route and by status for
// [GroupRetention]; Run purges older ones.
package analytics
