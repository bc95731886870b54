// Package e2e holds this library against software that others wrote. It is a module
// of its own, so that what it needs never enters a host's go.mod, and it calls our
// public packages only, beside what our tests share. Its folder browser holds the pages in Chromium, and linear
// checks what concurrent clients saw.
package e2e
