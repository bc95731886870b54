package apierror

import "slices"

// ProblemDetails is a [ShapeFunc]: problem details for HTTP APIs (RFC 9457). The member
// detail is the message; code, params, errors (the problems of a validation), paths, details
// and requestId are extension members. The member type is absent, which means about:blank.
//
// The member paths has one entry for each entry of errors: the path of the member or parameter
// that it is about, or an empty string. It is absent if no error has a path. A path is not a
// JSON pointer, since it can name a parameter of the query.
func ProblemDetails(v View) (contentType string, body any) {
	problem := problemBody{
		Title: statusName(v.Status), Status: v.Status, Detail: v.Problems[0].Text,
		Code: v.Code, Params: v.Params, Details: v.Details, RequestID: v.RequestID,
	}
	if v.IsValidation {
		problem.Detail = "the request is not valid"
		problem.Errors = texts(v.Problems)
		if slices.ContainsFunc(v.Problems, func(p Problem) bool { return p.Path != "" }) {
			for _, p := range v.Problems {
				problem.Paths = append(problem.Paths, p.Path)
			}
		}
	}
	return "application/problem+json", problem
}

type problemBody struct {
	Title     string   `json:"title"`
	Status    int      `json:"status"`
	Detail    string   `json:"detail"`
	Code      Code     `json:"code,omitempty"`
	Params    []string `json:"params,omitempty"`
	Errors    []string `json:"errors,omitempty"`
	Paths     []string `json:"paths,omitempty"`
	Details   any      `json:"details,omitempty"`
	RequestID string   `json:"requestId,omitempty"`
}
