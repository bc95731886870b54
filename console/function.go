package console

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/internal/id"
)

const (
	// MaxFunctionName is in characters.
	MaxFunctionName = 64
	// MaxFunctionSource is in bytes.
	MaxFunctionSource = 64 << 10
)

// Function is code that the service runs for an app.
type Function struct {
	ID        string // fnc_…
	AppID     string
	Name      string
	Source    string // accepted by Config.FunctionChecker
	CreatedAt time.Time
}

// NewFunction is a function as its developer sends it.
type NewFunction struct {
	Name   string `json:"name"`
	Source string `json:"source"`
}

// FunctionStore keeps functions. Those of another app are not found:
// oauthserver.ErrNotFound, as for an app that does not exist.
type FunctionStore interface {
	// AddFunction adds one, unless the app has limit of them: [ErrFull]. Of several
	// at once no more than fit are added.
	AddFunction(ctx context.Context, f Function, limit int) error
	// Functions lists those of an app, oldest first.
	Functions(ctx context.Context, appID string) ([]Function, error)
	// Function returns one.
	Function(ctx context.Context, appID, functionID string) (Function, error)
	// DeleteFunction deletes one.
	DeleteFunction(ctx context.Context, appID, functionID string) error
}

// AddFunction stores a function of an app after Config.FunctionChecker has accepted its
// source. It runs nothing. Its error is one of apierror: 404, that the app is deactivated,
// that the source is rejected and why (FUNCTION_SOURCE_NO_HANDLER), or everything else
// that is wrong.
func (c *Console) AddFunction(ctx context.Context, by Actor, appID string, n NewFunction) (Function, error) {
	if _, err := c.changeable(ctx, by, appID); err != nil {
		return Function{}, err
	}
	var v apierror.Validation
	if strings.TrimSpace(n.Name) == "" {
		v.Add("name must not be empty")
	}
	checkLine(&v, "name", n.Name, MaxFunctionName)
	if len(n.Source) > MaxFunctionSource {
		v.Add("source must have at most %d bytes", MaxFunctionSource)
	}
	if !utf8.ValidString(n.Source) || strings.ContainsRune(n.Source, 0) {
		v.Add("source must be UTF-8 without NUL")
	}
	if err := v.Err(); err != nil {
		return Function{}, err
	}
	if err := c.checkSource(ctx, n.Source); err != nil {
		return Function{}, err
	}
	now := stamp(c.cfg.Clock.Now())
	added := Function{ID: id.New(id.Function, now), AppID: appID, Name: n.Name, Source: n.Source, CreatedAt: now}
	err := c.change(ctx, func(ctx context.Context) (audit.Entry, error) {
		return by.did(audit.FunctionAdded, appID, added.ID), c.cfg.Store.AddFunction(ctx, added, c.cfg.MaxFunctions)
	})
	if errors.Is(err, ErrFull) {
		return Function{}, apierror.Invalid(fmt.Sprintf("an app has at most %d functions", c.cfg.MaxFunctions))
	}
	if err != nil {
		return Function{}, absent("app", err)
	}
	return added, nil
}

// Functions lists those of an app, oldest first.
func (c *Console) Functions(ctx context.Context, by Actor, appID string) ([]Function, error) {
	if _, err := c.App(ctx, by, appID); err != nil {
		return nil, err
	}
	return c.cfg.Store.Functions(ctx, appID)
}

// Function returns one.
func (c *Console) Function(ctx context.Context, by Actor, ref Ref) (Function, error) {
	if _, err := c.App(ctx, by, ref.AppID); err != nil {
		return Function{}, err
	}
	function, err := c.cfg.Store.Function(ctx, ref.AppID, ref.FunctionID)
	return function, absent("function", err)
}

// DeleteFunction deletes one.
func (c *Console) DeleteFunction(ctx context.Context, by Actor, ref Ref) error {
	if _, err := c.changeable(ctx, by, ref.AppID); err != nil {
		return err
	}
	err := c.change(ctx, func(ctx context.Context) (audit.Entry, error) {
		return by.did(audit.FunctionDeleted, ref.AppID, ref.FunctionID), c.cfg.Store.DeleteFunction(ctx, ref.AppID, ref.FunctionID)
	})
	return absent("function", err)
}
