// Package pages serves the operator's side as pages, over the methods of
// operator.Operator: figures of the platform, all apps, the review queue, trusted
// documents, users and the audit log. They are plain HTML forms that work without script.
//
// Mount [Pages] on the app host at [Config.Prefix]. Only operators reach the pages: the
// requests of other users go to [Config.Otherwise], as for a path that does not exist.
// Writes must come from a page of the same origin, and no page may frame the pages.
package pages
