// Package keyring encrypts the secrets that must be read back from the database: webhook secrets
// and private signing keys. The host supplies the keys and the database never contains them, so
// a copy of the database is not enough to read the secrets.
//
// A [Keyring] has one or more keys of 32 bytes. The first key seals (encrypts), and all keys open
// (decrypt). To rotate, put a new key first, reseal the values for which [Keyring.NeedsReseal]
// reports true (the features of this module do that themselves), then remove the old key.
//
// A sealed value is bound to its [Place]: copied to another row, it cannot be opened. A Keyring
// never changes and is safe for concurrent use.
package keyring
