package console

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/webp"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console/consolestore"
)

// How large images may be, in pixels. An icon is square.
const (
	maxIcon       = 1024
	maxScreenshot = 4096
)

// imageShape holds the format and size from the header of an image.
type imageShape struct {
	contentType   string
	width, height int
}

// checkImage holds an image to the rules of its kind. It reads headers alone: a picture
// is not decoded here, so that none can be a bomb. One whose end is missing is refused.
func checkImage(n NewAsset) (imageShape, error) {
	var v apierror.Validation
	shape, ok := recognise(n.Data)
	switch {
	case n.Kind != consolestore.AssetIcon && n.Kind != consolestore.AssetScreenshot:
		v.Add("kind", "must be %s or %s", consolestore.AssetIcon, consolestore.AssetScreenshot)
	case ok && n.Kind == consolestore.AssetIcon && (shape.width != shape.height || shape.width > maxIcon):
		v.Add("file", "must be a square of at most %d by %[1]d pixels; this one has %d by %d", maxIcon, shape.width, shape.height)
	case ok && n.Kind == consolestore.AssetScreenshot && max(shape.width, shape.height) > maxScreenshot:
		v.Add("file", "must have at most %d by %[1]d pixels; this one has %d by %d", maxScreenshot, shape.width, shape.height)
	case ok && !shape.isWhole(n.Data):
		v.Add("file", "is cut off, or damaged")
	}
	if !ok {
		v.Add("file", "must be a PNG, JPEG or WebP image")
	}
	return shape, v.Err()
}

// recognise detects the type of an image from its content alone: the sender chooses the
// file name and the declared type freely.
func recognise(data []byte) (imageShape, bool) {
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		config, err := png.DecodeConfig(bytes.NewReader(data))
		return imageShape{"image/png", config.Width, config.Height}, err == nil
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		config, err := jpeg.DecodeConfig(bytes.NewReader(data))
		return imageShape{"image/jpeg", config.Width, config.Height}, err == nil
	}
	// A WebP says how long it is, so that one that is cut off is not taken for an image.
	const lengthEnds, around = 8, 8
	if len(data) < lengthEnds || int64(binary.LittleEndian.Uint32(data[lengthEnds-4:]))+around > int64(len(data)) {
		return imageShape{}, false
	}
	config, err := webp.DecodeConfig(bytes.NewReader(data))
	return imageShape{"image/webp", config.Width, config.Height}, err == nil && config.Width > 0 && config.Height > 0
}

// isWhole reports whether an image has all its parts. Bytes after the last part are
// ignored. The length of a WebP was checked when it was recognised.
func (s imageShape) isWhole(data []byte) bool {
	switch s.contentType {
	case "image/png":
		return isWholePNG(data)
	case "image/jpeg":
		return isWholeJPEG(data)
	}
	return true
}

// isWholePNG goes over the chunks (PNG section 5.3): length, type, data, checksum.
func isWholePNG(data []byte) bool {
	const signature, around = 8, 12
	hasImage := false
	for rest := data[signature:]; len(rest) >= around; {
		length := uint64(binary.BigEndian.Uint32(rest))
		if length > uint64(len(rest)-around) {
			return false
		}
		body, end := rest[4:8+length], rest[8+length:]
		if crc32.ChecksumIEEE(body) != binary.BigEndian.Uint32(end) {
			return false
		}
		switch string(body[:4]) {
		case "IDAT":
			hasImage = true
		case "IEND":
			return hasImage
		}
		rest = end[4:]
	}
	return false
}

// isWholeJPEG goes over the segments (ITU-T T.81 annex B) to the first scan, so that the
// end of a thumbnail is not taken for that of the image, and looks for the end behind it.
func isWholeJPEG(data []byte) bool {
	const startOfScan = 0xda
	for rest := data[2:]; len(rest) >= 4 && rest[0] == 0xff; {
		if rest[1] == 0xff { // filling
			rest = rest[1:]
			continue
		}
		length := 2 + int(binary.BigEndian.Uint16(rest[2:]))
		if length > len(rest) {
			return false
		}
		if rest[1] == startOfScan {
			return bytes.Contains(rest[length:], []byte{0xff, 0xd9})
		}
		rest = rest[length:]
	}
	return false
}
