// Package browser tests the pages in a real Chromium, against the reference server in a
// separate process. No test waits for a fixed time: each waits for a named condition.
//
// PARTNERKIT_SCREENSHOTS names a folder that gets pictures of all pages.
package browser
