// Package keyring seals what must be read back from the database: webhook secrets
// and the private signing keys. The keys are the host's; the database never holds
// them, so a copy of it alone opens nothing.
//
// A [Keyring] has one or more keys of 32 bytes. The first one seals, all of them
// open. To rotate, put a new key in front, reseal what [Keyring.NeedsReseal] names
// (the features do so by themselves), then drop the old key.
//
// A sealed value is bound to its [Place]: copied to another row it does not open.
package keyring
