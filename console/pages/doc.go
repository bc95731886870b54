// Package pages is the developer console as pages, over the methods of
// console.Console: in process, so that no browser request crosses hosts. They are
// plain HTML forms that work without script; a small script copies secrets, counts
// down and keeps lists fresh.
//
// Mount [Pages] on the app host at [Config.Prefix]. Writes must come from a page of the
// same origin, no site may frame the pages, and content from apps and their receivers
// is shown as text.
package pages
