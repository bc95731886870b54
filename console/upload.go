package console

import (
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
)

const (
	uploadType = "multipart/form-data"
	// uploadEnvelope is room for what stands around the file in the body.
	uploadEnvelope = 64 << 10
	// maxKindBytes is more than any kind has.
	maxKindBytes = 64
)

// ReadUpload reads the two parts of an upload, kind and file, each once and in any
// order. Nothing of it goes to the disk. Its error is one of apierror: 413, 415, or what
// is wrong.
func ReadUpload(w http.ResponseWriter, r *http.Request) (NewAsset, error) {
	if apierror.MediaType(r) != uploadType || len(r.Header.Values("Content-Encoding")) > 0 {
		return NewAsset{}, apierror.UnsupportedMediaType(uploadType)
	}
	if r.ContentLength > MaxAssetBytes+uploadEnvelope {
		return NewAsset{}, apierror.TooLarge(MaxAssetBytes)
	}
	r.Body = http.MaxBytesReader(w, r.Body, MaxAssetBytes+uploadEnvelope)
	parts, err := r.MultipartReader()
	if err != nil {
		return NewAsset{}, apierror.Invalid("the body has no boundary").WithCause(err)
	}
	read := map[string][]byte{}
	for {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return NewAsset{}, unreadable(err)
		}
		if err := readPart(part, r.ContentLength, read); err != nil {
			return NewAsset{}, err
		}
	}
	return NewAsset{Kind: AssetKind(read["kind"]), Data: read["file"]}, nil
}

// readPart reads one part, which is smaller than the body, into its place.
func readPart(part *multipart.Part, bodySize int64, into map[string][]byte) (err error) {
	name := part.FormName()
	if _, isRead := into[name]; isRead {
		return apierror.Invalid(name + " is given more than once")
	}
	switch name {
	case "kind":
		into[name], err = io.ReadAll(io.LimitReader(part, maxKindBytes+1))
	case "file":
		into[name], err = apierror.ReadAll(part, bodySize, MaxAssetBytes)
	default:
		return apierror.Invalid(fmt.Sprintf("%.64q is not a known part", name))
	}
	if _, isTold := errors.AsType[*apierror.Error](err); isTold || err == nil {
		return err
	}
	return unreadable(err)
}

// unreadable tells a body that is too large from one that is broken.
func unreadable(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return apierror.TooLarge(MaxAssetBytes)
	}
	return apierror.Invalid("the body could not be read to its end").WithCause(err)
}
