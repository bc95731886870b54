package console

import (
	"context"
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/appdata"
)

// DeclareField declares a field of app data. Its error is one of apierror: 404, that
// the app is deactivated, everything that is wrong, or INVALID_CHOICES.
func (c *Console) DeclareField(ctx context.Context, by Actor, appID string, d appdata.Declaration) (appdata.Field, error) {
	if _, err := c.changeable(ctx, by, appID); err != nil {
		return appdata.Field{}, err
	}
	field, err := c.cfg.AppData.DeclareField(ctx, appID, d)
	if err != nil {
		return appdata.Field{}, absent("the app", err)
	}
	c.did(ctx, act{by, appID, "app_data_field.created"}, field.ID)
	return field, nil
}

// Fields lists those of an app, oldest first.
func (c *Console) Fields(ctx context.Context, by Actor, appID string) ([]appdata.Field, error) {
	if _, err := c.App(ctx, by, appID); err != nil {
		return nil, err
	}
	return c.cfg.AppData.Fields(ctx, appID)
}

// Field returns one.
func (c *Console) Field(ctx context.Context, by Actor, ref Ref) (appdata.Field, error) {
	if _, err := c.App(ctx, by, ref.AppID); err != nil {
		return appdata.Field{}, err
	}
	field, err := c.cfg.AppData.Field(ctx, ref.AppID, ref.FieldID)
	return field, absent("the field", err)
}

// ChangeField changes label and rules of one; its error is as with
// [Console.DeclareField].
func (c *Console) ChangeField(ctx context.Context, by Actor, ref Ref, d appdata.Declaration) (appdata.Field, error) {
	if _, err := c.changeable(ctx, by, ref.AppID); err != nil {
		return appdata.Field{}, err
	}
	field, err := c.cfg.AppData.ChangeField(ctx, ref.AppID, ref.FieldID, d)
	if err != nil {
		return appdata.Field{}, absent("the field", err)
	}
	c.did(ctx, act{by, ref.AppID, "app_data_field.updated"}, ref.FieldID)
	return field, nil
}

// DeleteField deletes one and, in every business, its values.
func (c *Console) DeleteField(ctx context.Context, by Actor, ref Ref) error {
	if _, err := c.changeable(ctx, by, ref.AppID); err != nil {
		return err
	}
	if err := c.cfg.AppData.DeleteField(ctx, ref.AppID, ref.FieldID); err != nil {
		return absent("the field", err)
	}
	c.did(ctx, act{by, ref.AppID, "app_data_field.deleted"}, ref.FieldID)
	return nil
}

// fieldRoutes are none where there is no app data.
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

// A field is its own payload.
func (c *Console) declareField(w http.ResponseWriter, r *http.Request, by Actor) error {
	var d appdata.Declaration
	if err := readBody(r, &d); err != nil {
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
	return list(w, fields, func(f appdata.Field) appdata.Field { return f })
}

func (c *Console) serveField(w http.ResponseWriter, r *http.Request, by Actor) error {
	field, err := c.Field(r.Context(), by, refOf(r))
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, field)
}

func (c *Console) changeField(w http.ResponseWriter, r *http.Request, by Actor) error {
	var d appdata.Declaration
	if err := readBody(r, &d); err != nil {
		return err
	}
	field, err := c.ChangeField(r.Context(), by, refOf(r), d)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, field)
}

func (c *Console) deleteField(w http.ResponseWriter, r *http.Request, by Actor) error {
	if err := c.DeleteField(r.Context(), by, refOf(r)); err != nil {
		return err
	}
	return noContent(w)
}
