// Package id makes the ids of the platform's records: a prefix that names the kind,
// then 26 characters of [0-9a-v] that sort by creation time.
//
//	evt_06g5plpa01o015r0g79mgnmm4c
//
// The characters are a UUID version 7 (RFC 9562) whose time comes from the clock of
// the caller, in base 32 with an alphabet in byte order. So ids of one kind have one
// length, and comparing them as text, in Go or in either database, compares their
// times.
package id

import (
	"encoding/base32"
	"encoding/binary"
	"strings"
	"time"

	"github.com/google/uuid"
)

// encoding keeps the order of the bytes that it encodes (RFC 4648 7, in lower case).
var encoding = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)

// Length is the number of characters after the prefix: 128 bits in base 32.
const Length = 26

// Resolution is how far apart two instants must be for their ids to sort: a little
// over 1/4096 of a millisecond.
const Resolution = 245 * time.Nanosecond

// New makes an id for a record created at now, which must not be before 1970.
//
// Ids sort by now down to 1/4096 of a millisecond. Those made for the same instant
// are distinct, with 62 random bits, and in no promised order: a caller that needs one
// counts. It is safe for concurrent use.
func New(kind Kind, now time.Time) string {
	return text(kind, at(uuid.New(), now))
}

// Floor returns the least id of the kind for a record created at now: every id made
// for an earlier time sorts before it, every other one after it.
func Floor(kind Kind, now time.Time) string {
	return text(kind, at(uuid.UUID{}, now))
}

// Valid reports whether s has the form of an id that New makes for the kind. Ids of
// users, businesses and organizations are the host's and need not have it.
func Valid(kind Kind, s string) bool {
	text, ok := strings.CutPrefix(s, string(kind))
	if !ok || len(text) != Length {
		return false
	}
	u, err := decode(text)
	// Two of the 130 bits are spare; only zeroes there are ours. The version is
	// checked for the same reason: one id has one spelling.
	return err == nil && encoding.EncodeToString(u[:]) == text && u.Version() == 7 && u.Variant() == uuid.RFC4122
}

// Time returns when the record of a valid id was created, to the millisecond.
func Time(kind Kind, s string) (time.Time, bool) {
	if !Valid(kind, s) {
		return time.Time{}, false
	}
	u, _ := decode(s[len(kind):]) // Valid has decoded it
	seconds, nanoseconds := u.Time().UnixTime()
	return time.Unix(seconds, nanoseconds).UTC().Truncate(time.Millisecond), true
}

func decode(text string) (uuid.UUID, error) {
	b, err := encoding.DecodeString(text)
	if err != nil {
		return uuid.UUID{}, err
	}
	return uuid.FromBytes(b)
}

// text returns the id of a kind.
func text(kind Kind, u uuid.UUID) string {
	return string(kind) + encoding.EncodeToString(u[:])
}

// at turns u into a UUID version 7 of that time: 48 bits of milliseconds, then 12 bits of
// fraction after the version (RFC 9562 6.2, method 3). uuid.NewV7 has the time of the
// system, and ours comes from the caller's clock.
func at(u uuid.UUID, now time.Time) uuid.UUID {
	const fractions = 1 << 12
	fraction := now.Nanosecond() % int(time.Millisecond) * fractions / int(time.Millisecond)
	binary.BigEndian.PutUint64(u[:8], uint64(now.UnixMilli())<<16|7<<12|uint64(fraction))
	return u
}
