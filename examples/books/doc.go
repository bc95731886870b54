// Package books is the backend of the reference server: a small accounting service with
// users, businesses and records. It has what a host has before it adopts partnerkit, so
// a reader who is interested in partnerkit alone can skip it.
//
//   - [Books] is the database: users, organizations, businesses and who is a member of
//     them with which permissions. It implements guard.Permissions. [Books.Routes] is the
//     API, most of which is package ledger.
//   - [Site] is the pages of the app host: sign-in with its lockout, sessions, the choice
//     of a business, and embedded apps.
//   - [Host] is what partnerkit asks about both. It implements oauthserver.Host and
//     console.Host.
//
// Start reading at host.go, which is what partnerkit requires of a backend, and continue
// with people.go and sessions.go, which it stands on. The page that a host adds with
// partnerkit is embedded.go.
package books
