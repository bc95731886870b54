package apierror

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
)

// A View is all that a client may see of an error in the standard shape. A 5xx shows a
// request id and nothing of its cause.
type View struct {
	// Status is the HTTP status.
	Status int
	// Code is empty for errors that have none.
	Code Code
	// Problems has at least one entry.
	Problems []Problem
	// IsValidation reports that Problems lists what is wrong with a request, even if there
	// is only one entry.
	IsValidation bool
	// Params are the values that the message contains, in the order of their numbers.
	Params []string
	// Details is the value of [Error.Details].
	Details any
	// RequestID is the id of a 5xx in the log and in X-Request-Id; empty otherwise.
	RequestID string
}

// A ShapeFunc replaces the standard shape: it returns the content type and the body of an
// error response. An empty content type means application/json. A body of type []byte is
// sent as it is, any other is encoded as JSON. Status and other headers do not depend on
// it. It must be safe for concurrent use. If it panics, or its body cannot be encoded, the
// response has the standard shape and the log says so.
type ShapeFunc func(View) (contentType string, body any)

// StandardShape returns the default [ShapeFunc]: it writes the standard shape.
func StandardShape(v View) (contentType string, body any) {
	shown := standardBody{
		StatusCode: v.Status,
		Message:    v.Problems[0].Text,
		Error:      statusName(v.Status),
		Code:       v.Code,
		Details:    v.Details,
	}
	if v.IsValidation {
		shown.Message = texts(v.Problems)
	}
	if len(v.Params) > 0 {
		shown.Params = make(map[string]string, len(v.Params))
		for i, value := range v.Params {
			shown.Params["p"+strconv.Itoa(i)] = value
		}
	}
	return "application/json", shown
}

func (e *Error) view(requestID string) View {
	return View{
		Status: e.status, Code: e.code, Problems: e.Problems(), IsValidation: e.isList,
		Params: slices.Clone(e.params), Details: e.details, RequestID: requestID,
	}
}

// sendStandard writes status and body. What a ShapeFunc does wrong is logged.
func (wr Writer) sendStandard(w http.ResponseWriter, r *http.Request, v View) {
	if wr.Shape != nil {
		contentType, encoded, err := shaped(wr.Shape, v)
		if err == nil {
			w.Header().Set("Content-Type", contentType)
			w.Header().Set("X-Content-Type-Options", "nosniff")
			w.WriteHeader(v.Status)
			_, _ = w.Write(encoded)
			return
		}
		wr.logger().ErrorContext(r.Context(), "error shape failed", "code", v.Code, "status", v.Status, "err", err)
	}
	_, body := StandardShape(v)
	wr.send(w, r, v.Status, body)
}

// shaped calls a host's function with a view of its own.
func shaped(shape ShapeFunc, v View) (contentType string, encoded []byte, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = Panicked(value)
		}
	}()
	v.Problems = slices.Clone(v.Problems)
	v.Params = slices.Clone(v.Params)
	contentType, body := shape(v)
	if contentType == "" {
		contentType = "application/json"
	}
	switch raw, isRaw := body.([]byte); {
	case isRaw:
		encoded = raw
	case body == nil:
		return "", nil, errors.New("the body is nil")
	default:
		encoded, err = EncodeJSON(body)
	}
	return contentType, encoded, err
}
