package console

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/stamp"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/partner"
)

const (
	// maxFunctionName is in characters.
	maxFunctionName = 64
	// MaxFunctionSource is in bytes.
	MaxFunctionSource = 64 << 10
)

// NewFunction is a function as its developer sends it.
type NewFunction struct {
	Name   string `json:"name"`
	Source string `json:"source"`
}

// MaxFunctions is how many functions an app may have.
func (c *Console) MaxFunctions() int { return c.cfg.MaxFunctions }

// AddFunction stores a function of an app after Config.FunctionChecker has accepted its
// source. It runs nothing. Its error is one of apierror: 404, that the app is deactivated,
// that the source is rejected and why (FUNCTION_SOURCE_NO_HANDLER or
// FUNCTION_SOURCE_TOO_COMPLEX), everything else that is wrong, 429 if the organization has used
// up its checks of this minute, or 503 if the check could not begin within ten seconds.
func (c *Console) AddFunction(ctx context.Context, by Actor, appID string, n NewFunction) (consolestore.Function, error) {
	app, err := c.changeable(ctx, by, appID)
	if err != nil {
		return consolestore.Function{}, err
	}
	if err := n.check(); err != nil {
		return consolestore.Function{}, err
	}
	if all, err := c.cfg.Store.Functions(ctx, appID); err != nil {
		return consolestore.Function{}, err
	} else if len(all) >= c.cfg.MaxFunctions { // it is not checked in vain
		return consolestore.Function{}, c.tooManyFunctions()
	}
	if err := c.checkSource(ctx, app.OrganizationID, n.Source); err != nil {
		return consolestore.Function{}, err
	}
	now := stamp.Of(c.cfg.Clock.Now()).Time
	added := consolestore.Function{ID: id.New(id.Function, now), AppID: appID, Name: n.Name, Source: n.Source, CreatedAt: now}
	err = c.changeApp(ctx, by, appID, func(ctx context.Context, _ partner.App) (audit.Entry, error) {
		return by.did(audited.FunctionAdded, appID, added.ID), c.cfg.Store.ChangeFunctions(ctx, appID, func(all []consolestore.Function) ([]consolestore.Function, error) {
			if len(all) >= c.cfg.MaxFunctions {
				return nil, consolestore.ErrFull
			}
			return append(all, added), nil
		})
	})
	if errors.Is(err, consolestore.ErrFull) {
		return consolestore.Function{}, c.tooManyFunctions()
	}
	if err != nil {
		return consolestore.Function{}, absent("app", err)
	}
	return added, nil
}

// check returns a validation error that names everything that is wrong, but for what the
// FunctionChecker finds.
func (n NewFunction) check() error {
	var v apierror.Validation
	if !text.HasVisible(n.Name) {
		v.Add("name", "must not be empty")
	}
	checkLine(&v, "name", n.Name, maxFunctionName)
	if len(n.Source) > MaxFunctionSource {
		v.Add("source", "must have at most %d bytes", MaxFunctionSource)
	}
	if !utf8.ValidString(n.Source) || strings.ContainsRune(n.Source, 0) {
		v.Add("source", "must be UTF-8 without NUL")
	}
	return v.Err()
}

func (c *Console) tooManyFunctions() error {
	return apierror.Invalid(fmt.Sprintf("an app has at most %d functions", c.cfg.MaxFunctions))
}

// Functions lists those of an app, oldest first.
func (c *Console) Functions(ctx context.Context, by Actor, appID string) ([]consolestore.Function, error) {
	if _, err := c.App(ctx, by, appID); err != nil {
		return nil, err
	}
	return c.cfg.Store.Functions(ctx, appID)
}

// Function returns one.
func (c *Console) Function(ctx context.Context, by Actor, appID, functionID string) (consolestore.Function, error) {
	if _, err := c.App(ctx, by, appID); err != nil {
		return consolestore.Function{}, err
	}
	all, err := c.cfg.Store.Functions(ctx, appID)
	if err != nil {
		return consolestore.Function{}, err
	}
	i := slices.IndexFunc(all, func(f consolestore.Function) bool { return f.ID == functionID })
	if i < 0 {
		return consolestore.Function{}, absent("function", partner.ErrNotFound)
	}
	return all[i], nil
}

// DeleteFunction deletes one.
func (c *Console) DeleteFunction(ctx context.Context, by Actor, appID, functionID string) error {
	err := c.changeApp(ctx, by, appID, func(ctx context.Context, _ partner.App) (audit.Entry, error) {
		return by.did(audited.FunctionDeleted, appID, functionID), c.cfg.Store.ChangeFunctions(ctx, appID, func(all []consolestore.Function) ([]consolestore.Function, error) {
			i := slices.IndexFunc(all, func(f consolestore.Function) bool { return f.ID == functionID })
			if i < 0 {
				return nil, partner.ErrNotFound
			}
			return slices.Delete(all, i, i+1), nil
		})
	})
	return absent("function", err)
}
