package console

import (
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/jsonapi"
	"github.com/partnerkit/partnerkit/internal/stamp"
)

func (c *Console) functionRoutes() []route {
	const all, one = "/developer/apps/{appId}/functions", "/developer/apps/{appId}/functions/{functionId}"
	return []route{
		{"POST " + all, c.addFunction},
		{"GET " + all, c.listFunctions},
		{"GET " + one, c.serveFunction},
		{"DELETE " + one, c.deleteFunction},
	}
}

type functionPayload struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	Source    string     `json:"source"`
	CreatedAt stamp.Time `json:"createdAt"`
}

func newFunctionPayload(f consolestore.Function) functionPayload {
	return functionPayload{ID: f.ID, Name: f.Name, Source: f.Source, CreatedAt: stamp.Of(f.CreatedAt)}
}

func (c *Console) addFunction(w http.ResponseWriter, r *http.Request, by Actor) error {
	var n NewFunction
	if err := readBody(r, &n, func() error { return n.check() }); err != nil {
		return err
	}
	added, err := c.AddFunction(r.Context(), by, r.PathValue("appId"), n)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusCreated, newFunctionPayload(added))
}

func (c *Console) listFunctions(w http.ResponseWriter, r *http.Request, by Actor) error {
	functions, err := c.Functions(r.Context(), by, r.PathValue("appId"))
	if err != nil {
		return err
	}
	return jsonapi.WriteList(w, functions, newFunctionPayload)
}

func (c *Console) serveFunction(w http.ResponseWriter, r *http.Request, by Actor) error {
	function, err := c.Function(r.Context(), by, r.PathValue("appId"), r.PathValue("functionId"))
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, newFunctionPayload(function))
}

func (c *Console) deleteFunction(w http.ResponseWriter, r *http.Request, by Actor) error {
	if err := c.DeleteFunction(r.Context(), by, r.PathValue("appId"), r.PathValue("functionId")); err != nil {
		return err
	}
	return noContent(w)
}
