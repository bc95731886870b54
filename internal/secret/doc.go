// Package secret makes and keeps what must not be seen: tokens, codes, client
// secrets and webhook secrets.
//
// A [Secret] is 256 random bits behind a prefix that names its [Kind], so that
// scanners of source code find a leaked one, and so that one kind never passes for
// another. An access or refresh token has the id of its record in between. It prints,
// logs and marshals as a placeholder; only [Secret.Reveal] gives its text. What is
// stored is its [Digest]; a SHA-256 is enough, since 256 random bits cannot be guessed.
//
// User codes, which people type, are the exception: short, and of an alphabet that
// is hard to misread ([NewUserCode]).
package secret
