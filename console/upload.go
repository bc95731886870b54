package console

import (
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/header"
	"github.com/partnerkit/partnerkit/internal/text"
)

const (
	uploadType = "multipart/form-data"
	// uploadEnvelope is room for what stands around the file in the body.
	uploadEnvelope = 64 << 10
	// maxKindBytes is more than any kind has.
	maxKindBytes = 64
	// maxUploadFields and maxUploadText bound the other fields of a form with an upload, and
	// the bytes of their values.
	maxUploadFields = 1000
	maxUploadText   = 256 << 10
	// maxDrained is how much of a body that is too large is read all the same. A browser
	// does not show the response to a form before it has sent all of it.
	maxDrained = 4 * MaxAssetBytes
)

// ReadUpload reads the two parts of an upload, kind and file, each once and in any
// order. Nothing of it goes to the disk. Its error is one of apierror: 413, 415, or what
// is wrong.
func ReadUpload(w http.ResponseWriter, r *http.Request) (NewAsset, error) {
	if err := checkUploadType(r); err != nil {
		return NewAsset{}, err
	}
	if r.ContentLength > MaxAssetBytes+uploadEnvelope {
		return NewAsset{}, apierror.TooLarge(MaxAssetBytes)
	}
	r.Body = http.MaxBytesReader(w, r.Body, MaxAssetBytes+uploadEnvelope)
	read := upload{bodySize: r.ContentLength, parts: map[string][]byte{}}
	err := read.from(r)
	return read.asset(), err
}

// ReadUploadForm reads an upload as [ReadUpload] does, from a form that has other fields
// too, which it returns. If the error is about the file, it returns the fields that came
// before the file.
func ReadUploadForm(w http.ResponseWriter, r *http.Request) (NewAsset, url.Values, error) {
	if err := checkUploadType(r); err != nil {
		return NewAsset{}, nil, err
	}
	body := r.Body
	r.Body = http.MaxBytesReader(w, body, MaxAssetBytes+uploadEnvelope+maxUploadText)
	read := upload{bodySize: r.ContentLength, parts: map[string][]byte{}, fields: url.Values{}, room: maxUploadText}
	err := read.from(r)
	if e, ok := errors.AsType[*apierror.Error](err); ok && e.Status() == http.StatusRequestEntityTooLarge {
		_, _ = io.CopyN(io.Discard, body, maxDrained) // the error is told already
	}
	return read.asset(), read.fields, err
}

func checkUploadType(r *http.Request) error {
	if header.MediaType(r.Header) != uploadType || len(r.Header.Values("Content-Encoding")) > 0 {
		return apierror.UnsupportedMediaType(uploadType)
	}
	return nil
}

// upload is what was read of an upload.
type upload struct {
	bodySize int64
	parts    map[string][]byte // kind and file
	fields   url.Values        // the other fields; nil: there must be none
	count    int               // of the values in fields
	room     int               // bytes that are left for values of fields
}

func (u *upload) asset() NewAsset {
	return NewAsset{Kind: consolestore.AssetKind(u.parts["kind"]), Data: u.parts["file"]}
}

// from reads all parts of the body.
func (u *upload) from(r *http.Request) error {
	parts, err := r.MultipartReader()
	if err != nil {
		return apierror.Invalid("the body has no boundary").WithCause(err)
	}
	for {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return unreadable(err)
		}
		if err := u.read(part); err != nil {
			return err
		}
	}
}

// read reads one part, which is smaller than the body, into its place.
func (u *upload) read(part *multipart.Part) (err error) {
	name := part.FormName()
	if _, isRead := u.parts[name]; isRead {
		return apierror.InvalidAt(name, "is given more than once")
	}
	switch {
	case name == "kind":
		u.parts[name], err = io.ReadAll(io.LimitReader(part, maxKindBytes+1))
	case name == "file":
		u.parts[name], err = bodies.ReadAll(part, u.bodySize, MaxAssetBytes)
	case u.fields != nil:
		err = u.readField(name, part)
	default:
		return apierror.InvalidAt(fmt.Sprintf("%.64q", name), "is not a known part")
	}
	if _, isTold := errors.AsType[*apierror.Error](err); isTold || err == nil {
		return err
	}
	return unreadable(err)
}

// readField reads a field that is neither kind nor file.
func (u *upload) readField(name string, part io.Reader) error {
	value, err := io.ReadAll(io.LimitReader(part, int64(u.room)+1))
	if err != nil {
		return err
	}
	u.room -= len(value)
	u.count++
	switch {
	case u.room < 0:
		return apierror.TooLarge(maxUploadText)
	case u.count > maxUploadFields:
		return apierror.Invalid("the form has too many fields")
	case !text.IsStorable(name) || !text.IsStorable(string(value)):
		return apierror.Invalid("the form has a field that is not valid UTF-8 without NUL")
	}
	u.fields[name] = append(u.fields[name], string(value))
	return nil
}

// unreadable tells a body that is too large from one that is broken.
func unreadable(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return apierror.TooLarge(MaxAssetBytes)
	}
	return apierror.Invalid("the body could not be read to its end").WithCause(err)
}
