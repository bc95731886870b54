// Package interop tests third-party clients, through their documented calls, against the
// reference server: the program itself, on free ports. The settings that each client
// needs are in docs/clients.md.
//
// Clients in JavaScript come from package.json (npm ci), the MCP project's conformance suite
// from mcp/package.json, those in Python from Debian
// (python3-authlib, python3-requests-oauthlib). A test without its client skips; in CI
// it fails.
package interop
