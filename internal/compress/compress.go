// Package compress sends content with gzip to clients that take it.
//
// The length of a compressed response tells what it repeats. Whoever can choose a part of a
// response, and sees its length, can so find out the rest by guessing (the BREACH attack). So
// this package is for content that shows no secret and no form token, or nothing of the
// request.
package compress

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"sync"
)

// Write responds with status 200 and content.
func Write(w http.ResponseWriter, r *http.Request, content []byte) {
	w.Header().Add("Vary", "Accept-Encoding")
	if accepts(r) {
		w.Header().Set("Content-Encoding", "gzip")
		content = packed(content)
	}
	_, _ = w.Write(content) // the client may have left
}

// File is content that does not change. It is safe for concurrent use.
type File struct {
	plain  []byte
	digest string
	packed func() []byte // compresses once
}

// NewFile returns a file with the content.
func NewFile(content []byte) *File {
	sum := sha256.Sum256(content)
	return &File{content, hex.EncodeToString(sum[:12]), sync.OnceValue(func() []byte { return packed(content) })}
}

// ServeHTTP responds with the file, or with 304 to a client that has it. The header of the
// response has the file's media type already.
func (f *File) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Add("Vary", "Accept-Encoding")
	tag, isPacked := `"`+f.digest+`"`, accepts(r)
	if isPacked {
		tag = `"` + f.digest + `-gzip"` // bytes of its own have a tag of their own
	}
	h.Set("Etag", tag)
	for asked := range strings.SplitSeq(strings.Join(r.Header.Values("If-None-Match"), ","), ",") {
		if asked = strings.TrimPrefix(strings.TrimSpace(asked), "W/"); asked == tag || asked == "*" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	content := f.plain
	if isPacked {
		h.Set("Content-Encoding", "gzip")
		content = f.packed()
	}
	_, _ = w.Write(content) // the client may have left
}

// accepts reports whether the client takes gzip by name.
func accepts(r *http.Request) bool {
	for coding := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, quality, _ := strings.Cut(coding, ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		_, q, found := strings.Cut(quality, "=")
		return !found || strings.Trim(q, " 0.") != ""
	}
	return false
}

func packed(content []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(content) // a Buffer takes everything
	_ = w.Close()
	return out.Bytes()
}
