// Package sessiontoken issues and verifies the session tokens of embedded apps: JWTs that
// are signed with ES256.
//
// The signing keys are kept in the store, sealed by the host's keyring. The state of a key
// depends on the clock alone, so that all nodes agree about it:
//
//	CreatedAt          ActiveAt             ActiveAt of the next key      RetireAt
//	    | published        | published, signs        | published             | deleted
//	    +------------------+-------------------------+-----------------------+
//
// A new key is published for an hour before it signs, so that no verifier receives a token
// whose key it has not read yet. It stays published until the last token that it signed has
// expired. The first key of a store signs at once.
package sessiontoken
