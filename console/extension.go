package console

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/stamp"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/optional"
	"github.com/partnerkit/partnerkit/partner"
)

const (
	// MaxExtensions is how many an app may have.
	MaxExtensions = 50
	// maxExtensionPath is in bytes.
	maxExtensionPath = 2000
	// maxExtensionLabel is in characters.
	maxExtensionLabel = 80
)

// NewExtension is an extension as its developer describes it.
type NewExtension struct {
	ResourceType string `json:"resourceType"`
	Path         string `json:"path"`
	Label        string `json:"label"`
}

// ExtensionChange is a change of an extension. Members that are not sent
// are not changed.
type ExtensionChange struct {
	ResourceType optional.Member[string] `json:"resourceType"`
	Path         optional.Member[string] `json:"path"`
	Label        optional.Member[string] `json:"label"`
}

// AddExtension adds an extension to an app. Its error is one of apierror: 404, that the
// app is deactivated, that it does not request the scope to read such records
// (EXTENSION_SCOPE_REQUIRED), that the path leads elsewhere (EXTENSION_PATH_INVALID),
// or everything that is wrong.
func (c *Console) AddExtension(ctx context.Context, by Actor, appID string, n NewExtension) (consolestore.Extension, error) {
	now := stamp.Of(c.cfg.Clock.Now()).Time
	added := consolestore.Extension{
		ID: id.New(id.Extension, now), AppID: appID, ResourceType: n.ResourceType, Path: n.Path, Label: n.Label, CreatedAt: now, UpdatedAt: now,
	}
	err := c.changeApp(ctx, by, appID, func(ctx context.Context, _ partner.App) (audit.Entry, error) {
		return by.did(audited.ExtensionAdded, appID, added.ID), c.cfg.Store.ChangeExtensions(ctx, appID, func(app partner.App, all []consolestore.Extension) ([]consolestore.Extension, error) {
			if len(all) >= MaxExtensions {
				return nil, consolestore.ErrFull
			}
			return append(all, added), c.checkExtension(app, added)
		})
	})
	if errors.Is(err, consolestore.ErrFull) {
		return consolestore.Extension{}, apierror.Invalid(fmt.Sprintf("an app has at most %d extensions", MaxExtensions))
	}
	if err != nil {
		return consolestore.Extension{}, absent("app", err)
	}
	return added, nil
}

// Extensions lists those of an app, oldest first.
func (c *Console) Extensions(ctx context.Context, by Actor, appID string) ([]consolestore.Extension, error) {
	if _, err := c.App(ctx, by, appID); err != nil {
		return nil, err
	}
	return c.cfg.Store.Extensions(ctx, appID)
}

// Extension returns one.
func (c *Console) Extension(ctx context.Context, by Actor, appID, extensionID string) (consolestore.Extension, error) {
	if _, err := c.App(ctx, by, appID); err != nil {
		return consolestore.Extension{}, err
	}
	all, err := c.cfg.Store.Extensions(ctx, appID)
	if err != nil {
		return consolestore.Extension{}, err
	}
	i := indexOf(all, extensionID)
	if i < 0 {
		return consolestore.Extension{}, absent("extension", partner.ErrNotFound)
	}
	return all[i], nil
}

// indexOf returns the index of an extension, or a negative number.
func indexOf(all []consolestore.Extension, extensionID string) int {
	return slices.IndexFunc(all, func(e consolestore.Extension) bool { return e.ID == extensionID })
}

// UpdateExtension changes one; its error is as with [Console.AddExtension].
func (c *Console) UpdateExtension(ctx context.Context, by Actor, appID, extensionID string, change ExtensionChange) (consolestore.Extension, error) {
	var v apierror.Validation
	resourceType, path, label := notNull(&v, "resourceType", change.ResourceType), notNull(&v, "path", change.Path), notNull(&v, "label", change.Label)
	if err := v.Err(); err != nil {
		return consolestore.Extension{}, err
	}
	now := stamp.Of(c.cfg.Clock.Now()).Time
	var changed consolestore.Extension
	err := c.changeApp(ctx, by, appID, func(ctx context.Context, _ partner.App) (_ audit.Entry, err error) {
		err = c.cfg.Store.ChangeExtensions(ctx, appID, func(app partner.App, all []consolestore.Extension) ([]consolestore.Extension, error) {
			i := indexOf(all, extensionID)
			if i < 0 {
				return nil, partner.ErrNotFound
			}
			e := &all[i]
			e.ResourceType, e.Path, e.Label, e.UpdatedAt = or(resourceType, e.ResourceType), or(path, e.Path), or(label, e.Label), now
			changed = *e
			return all, c.checkExtension(app, changed)
		})
		return by.did(audited.ExtensionUpdated, appID, extensionID), err
	})
	if err != nil {
		return consolestore.Extension{}, absent("extension", err)
	}
	return changed, nil
}

// or returns a value that was sent, or else the one that was there.
func or(sent *string, before string) string {
	if sent != nil {
		return *sent
	}
	return before
}

// DeleteExtension deletes one.
func (c *Console) DeleteExtension(ctx context.Context, by Actor, appID, extensionID string) error {
	err := c.changeApp(ctx, by, appID, func(ctx context.Context, _ partner.App) (audit.Entry, error) {
		return by.did(audited.ExtensionDeleted, appID, extensionID), c.cfg.Store.ChangeExtensions(ctx, appID, func(_ partner.App, all []consolestore.Extension) ([]consolestore.Extension, error) {
			i := indexOf(all, extensionID)
			if i < 0 {
				return nil, partner.ErrNotFound
			}
			return slices.Delete(all, i, i+1), nil
		})
	})
	return absent("extension", err)
}

// checkExtensionChange returns a validation error that names everything that is wrong with
// the texts of a change.
func (c *Console) checkExtensionChange(was consolestore.Extension, change ExtensionChange) error {
	var v apierror.Validation
	was.ResourceType = or(notNull(&v, "resourceType", change.ResourceType), was.ResourceType)
	was.Path = or(notNull(&v, "path", change.Path), was.Path)
	was.Label = or(notNull(&v, "label", change.Label), was.Label)
	if err := v.Include(c.checkTexts(was)); err != nil {
		return err
	}
	return v.Err()
}

// checkTexts holds the texts of an extension to the rules.
func (c *Console) checkTexts(e consolestore.Extension) error {
	var v apierror.Validation
	if _, isKnown := c.cfg.ResourceTypes[e.ResourceType]; !isKnown {
		v.Add("resourceType", "must be one of %s", strings.Join(slices.Sorted(maps.Keys(c.cfg.ResourceTypes)), ", "))
	}
	if e.Path == "" || len(e.Path) > maxExtensionPath {
		v.Add("path", "must have 1 to %d bytes", maxExtensionPath)
	}
	if !text.HasVisible(e.Label) {
		v.Add("label", "must not be empty")
	}
	checkLine(&v, "label", e.Label, maxExtensionLabel)
	return v.Err()
}

// checkExtension holds an extension to the rules, with its app as it stands.
func (c *Console) checkExtension(app partner.App, e consolestore.Extension) error {
	if err := c.checkTexts(e); err != nil {
		return err
	}
	scope := c.cfg.ResourceTypes[e.ResourceType]
	if !app.Scopes.Has(scope) {
		return codes.ExtensionScopeRequired.New(e.ResourceType, scope)
	}
	if !isPageOf(app.AppURL, e.Path) {
		return codes.ExtensionPathInvalid.New(e.Path)
	}
	return nil
}
