// Package operator is the platform staff's side: all apps, the review queue, the status of
// apps and users, trusted client metadata documents, the audit log and figures of the whole
// platform.
//
// An [Operator] has typed methods and serves them as JSON ([Operator.ServeHTTP]); package
// operator/pages serves pages over the same methods. Every method takes an [Actor], which
// only [Operator.Actor] returns, so that no method can be called for a user whom the host
// does not name as one of its staff. For all other users the paths below /operator look
// like paths that do not exist.
//
// # Decisions
//
// A decision and its audit entry commit in one transaction. The entry has who decided and
// why. Developers see the reason for the status of their app and the note on a review;
// they do not see who decided.
//
// # Reviews
//
//	submitted ──take──▶ in_review ──approve──────────▶ approved (live)
//	                        ├──────request changes──▶ changes_requested
//	                        └──────reject───────────▶ rejected
//
// An app is submitted with its listing or without. A review covers the app as it was submitted:
// its name, redirect URIs, scopes and App URL. What a developer changes or adds later waits for
// the next review, and businesses see and use what was reviewed; see partner.App.
//
// The operator who takes a submission decides about it. A step of another operator is
// REVIEW_CONFLICT, with the name of the first. If the user who took a revision is no
// longer an operator, any operator can decide about it.
package operator
