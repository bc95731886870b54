package console

import (
	"bytes"
	"image/jpeg"
	"image/png"

	"github.com/partnerkit/partnerkit/apierror"
)

// How large images may be, in pixels. An icon is square.
const (
	minIcon, maxIcon                        = 128, 1024
	minScreenshotWidth, minScreenshotHeight = 640, 360
	maxScreenshot                           = 4096
)

// imageShape is what the header of an image says.
type imageShape struct {
	contentType   string
	width, height int
}

// checkImage holds an image to the rules of its kind. It reads the header alone: a
// picture is not decoded here, so that none can be a bomb.
func checkImage(n NewAsset) (imageShape, error) {
	var v apierror.Validation
	shape, ok := recognise(n.Data)
	switch {
	case n.Kind != AssetIcon && n.Kind != AssetScreenshot:
		v.Add("kind must be %s or %s", AssetIcon, AssetScreenshot)
	case ok && n.Kind == AssetIcon && (shape.width != shape.height || shape.width < minIcon || shape.width > maxIcon):
		v.Add("file must be a square of %d to %d pixels; this one has %d by %d", minIcon, maxIcon, shape.width, shape.height)
	case ok && n.Kind == AssetScreenshot && (shape.width < minScreenshotWidth || shape.height < minScreenshotHeight || max(shape.width, shape.height) > maxScreenshot):
		v.Add("file must have at least %d by %d pixels and at most %d by %d; this one has %d by %d",
			minScreenshotWidth, minScreenshotHeight, maxScreenshot, maxScreenshot, shape.width, shape.height)
	}
	if !ok {
		v.Add("file must be a PNG, JPEG or WebP image")
	}
	return shape, v.Err()
}

// recognise goes by the content and by nothing else: names and declared types are
// whatever their sender likes.
func recognise(data []byte) (imageShape, bool) {
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		config, err := png.DecodeConfig(bytes.NewReader(data))
		return imageShape{"image/png", config.Width, config.Height}, err == nil
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		config, err := jpeg.DecodeConfig(bytes.NewReader(data))
		return imageShape{"image/jpeg", config.Width, config.Height}, err == nil
	}
	width, height, ok := webpSize(data)
	return imageShape{"image/webp", width, height}, ok
}
