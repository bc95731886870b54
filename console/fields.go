package console

import (
	"context"
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/jsonapi"
	"github.com/partnerkit/partnerkit/internal/strictjson"
	"github.com/partnerkit/partnerkit/partner"
)

// DeclareField declares a field of app data. Its error is one of apierror: 404, that
// the app is deactivated, everything that is wrong, or INVALID_CHOICES.
func (c *Console) DeclareField(ctx context.Context, by Actor, appID string, d appdata.Declaration) (valuestore.Field, error) {
	var field valuestore.Field
	err := c.changeApp(ctx, by, appID, func(ctx context.Context, _ partner.App) (_ audit.Entry, err error) {
		field, err = c.cfg.AppData.DeclareField(ctx, appID, d)
		return by.did(audited.FieldCreated, appID, field.ID), err
	})
	if err != nil {
		return valuestore.Field{}, absent("app", err)
	}
	return field, nil
}

// Fields lists those of an app, oldest first.
func (c *Console) Fields(ctx context.Context, by Actor, appID string) ([]valuestore.Field, error) {
	if _, err := c.App(ctx, by, appID); err != nil {
		return nil, err
	}
	return c.cfg.AppData.Fields(ctx, appID)
}

// Field returns one.
func (c *Console) Field(ctx context.Context, by Actor, appID, fieldID string) (valuestore.Field, error) {
	if _, err := c.App(ctx, by, appID); err != nil {
		return valuestore.Field{}, err
	}
	field, err := c.cfg.AppData.Field(ctx, appID, fieldID)
	return field, absent("field", err)
}

// ChangeField changes label and rules of one; its error is as with
// [Console.DeclareField], or CONFLICT.
func (c *Console) ChangeField(ctx context.Context, by Actor, appID, fieldID string, d appdata.Declaration) (valuestore.Field, error) {
	var field valuestore.Field
	err := c.changeApp(ctx, by, appID, func(ctx context.Context, _ partner.App) (_ audit.Entry, err error) {
		field, err = c.cfg.AppData.ChangeField(ctx, appID, fieldID, d)
		return by.did(audited.FieldUpdated, appID, fieldID), err
	})
	if err != nil {
		return valuestore.Field{}, absent("field", err)
	}
	return field, nil
}

// DeleteField deletes one and, in every business, its values.
func (c *Console) DeleteField(ctx context.Context, by Actor, appID, fieldID string) error {
	err := c.changeApp(ctx, by, appID, func(ctx context.Context, _ partner.App) (audit.Entry, error) {
		return by.did(audited.FieldDeleted, appID, fieldID), c.cfg.AppData.DeleteField(ctx, appID, fieldID)
	})
	return absent("field", err)
}

// fieldRoutes returns no routes if there is no app data.
func (c *Console) fieldRoutes() []route {
	if c.cfg.AppData == nil {
		return nil
	}
	const all, one = "/developer/apps/{appId}/app-data-fields", "/developer/apps/{appId}/app-data-fields/{fieldId}"
	return []route{
		{"POST " + all, c.declareField},
		{"GET " + all, c.listFields},
		{"GET " + one, c.serveField},
		{"PATCH " + one, c.changeField},
		{"DELETE " + one, c.deleteField},
	}
}

// readDeclaration reads a field; check returns what is wrong with one.
func readDeclaration(r *http.Request, check func(appdata.Declaration) error) (d appdata.Declaration, err error) {
	choices := strictjson.List{Most: appdata.MaxChoices, Refusal: codes.InvalidChoices.New()}
	err = readBodyWith("choices", choices, r, &d, func() error { return check(d) })
	return d, err
}

// A field is its own payload.
func (c *Console) declareField(w http.ResponseWriter, r *http.Request, by Actor) error {
	d, err := readDeclaration(r, c.cfg.AppData.Check)
	if err != nil {
		return err
	}
	field, err := c.DeclareField(r.Context(), by, r.PathValue("appId"), d)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusCreated, field)
}

func (c *Console) listFields(w http.ResponseWriter, r *http.Request, by Actor) error {
	fields, err := c.Fields(r.Context(), by, r.PathValue("appId"))
	if err != nil {
		return err
	}
	return jsonapi.WriteList(w, fields, func(f valuestore.Field) valuestore.Field { return f })
}

func (c *Console) serveField(w http.ResponseWriter, r *http.Request, by Actor) error {
	field, err := c.Field(r.Context(), by, r.PathValue("appId"), r.PathValue("fieldId"))
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, field)
}

func (c *Console) changeField(w http.ResponseWriter, r *http.Request, by Actor) error {
	appID, fieldID := r.PathValue("appId"), r.PathValue("fieldId")
	d, err := readDeclaration(r, func(d appdata.Declaration) error {
		field, err := c.Field(r.Context(), by, appID, fieldID)
		if err != nil {
			return err
		}
		return c.cfg.AppData.CheckChange(field, d)
	})
	if err != nil {
		return err
	}
	field, err := c.ChangeField(r.Context(), by, appID, fieldID, d)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, field)
}

func (c *Console) deleteField(w http.ResponseWriter, r *http.Request, by Actor) error {
	if err := c.DeleteField(r.Context(), by, r.PathValue("appId"), r.PathValue("fieldId")); err != nil {
		return err
	}
	return noContent(w)
}
