package consolestore

import (
	"errors"
	"time"
)

// Asset is an image that the listing of an app may show.
type Asset struct {
	ID          string // ast_…
	AppID       string
	Kind        AssetKind
	ContentType string // detected from the content, regardless of the declared type
	Width       int    // in pixels
	Height      int
	Size        int // in bytes
	CreatedAt   time.Time
	Data        []byte // the image; nil in lists
}

// AssetKind is the purpose of an asset.
type AssetKind string

// The kinds of assets.
const (
	AssetIcon       AssetKind = "icon"
	AssetScreenshot AssetKind = "screenshot"
)

var (
	// ErrAssetInUse says that a listing shows the asset.
	ErrAssetInUse = errors.New("the asset is in use")
	// ErrFull says that the app has as many as it may have.
	ErrFull = errors.New("there is no room for another one")
)
