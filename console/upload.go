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
		if err := readPart(part, read); err != nil {
			return NewAsset{}, err
		}
	}
	return NewAsset{Kind: AssetKind(read["kind"]), Data: read["file"]}, nil
}

// readPart reads one part into its place.
func readPart(part *multipart.Part, into map[string][]byte) error {
	name, most := part.FormName(), maxKindBytes
	switch name {
	case "kind":
	case "file":
		most = MaxAssetBytes
	default:
		return apierror.Invalid(fmt.Sprintf("%.64q is not a known part", name))
	}
	if _, isRead := into[name]; isRead {
		return apierror.Invalid(name + " is given more than once")
	}
	data, err := io.ReadAll(io.LimitReader(part, int64(most)+1))
	switch {
	case err != nil:
		return unreadable(err)
	case len(data) > most && name == "file":
		return apierror.TooLarge(MaxAssetBytes)
	}
	into[name] = data
	return nil
}

// unreadable tells a body that is too large from one that is broken.
func unreadable(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return apierror.TooLarge(MaxAssetBytes)
	}
	return apierror.Invalid("the body could not be read to its end").WithCause(err)
}
