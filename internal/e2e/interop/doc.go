// Package interop holds clients that other people wrote against the reference server:
// the program itself, on free ports, with their own documented calls. What each of
// them needs to be told is in docs/clients.md.
//
// Clients in JavaScript come from package.json (npm ci), those in Python from Debian
// (python3-authlib, python3-requests-oauthlib). A test without its client skips; in CI
// it fails.
package interop
