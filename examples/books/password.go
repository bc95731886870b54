package books

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"
)

// The cost of a password hash: RFC 9106 section 4 scaled down to what a server
// can pay at each sign-in.
const (
	argonTime    = 2
	argonMemory  = 19 * 1024 // KiB
	argonThreads = 1
	argonSize    = 32 // bytes of the hash
	saltSize     = 16
)

// MaxPassword is the length of the longest password, in bytes. It bounds the work that
// a stranger can ask for.
const MaxPassword = 512

var phcPrefix = fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$", argon2.Version, argonMemory, argonTime, argonThreads)

// HashPassword returns what is kept of a password: Argon2id in the PHC format.
func HashPassword(password string) string {
	var salt [saltSize]byte
	_, _ = rand.Read(salt[:]) // never fails: Go stops the process first
	encode := base64.RawStdEncoding.EncodeToString
	return phcPrefix + encode(salt[:]) + "$" + encode(stretch(password, salt[:]))
}

// isPassword reports whether the hash was made of the password. An empty hash
// has no password and takes as long to check, so the time of a response does not reveal
// whether an account exists.
func isPassword(hash, password string) (bool, error) {
	var want []byte
	salt := make([]byte, saltSize)
	if hash != "" {
		rest, ok := strings.CutPrefix(hash, phcPrefix)
		saltText, sumText, cut := strings.Cut(rest, "$")
		if !ok || !cut {
			return false, errors.New("a password hash of an unknown form")
		}
		var err, err2 error
		salt, err = base64.RawStdEncoding.DecodeString(saltText)
		want, err2 = base64.RawStdEncoding.DecodeString(sumText)
		if err := errors.Join(err, err2); err != nil {
			return false, fmt.Errorf("password hash: %w", err)
		}
	}
	got := stretch(password, salt)
	return len(want) == argonSize && subtle.ConstantTimeCompare(got, want) == 1, nil
}

func stretch(password string, salt []byte) []byte {
	return argon2.IDKey([]byte(password), salt, argonTime, argonMemory, argonThreads, argonSize)
}
