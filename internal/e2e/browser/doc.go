// Package browser holds the pages in a real Chromium, against the reference server as
// a process of its own. Nothing waits for a fixed time: a test says what it waits for.
//
// PARTNERKIT_SCREENSHOTS names a folder that gets pictures of all pages.
package browser
