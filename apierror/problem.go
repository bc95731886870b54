package apierror

// ProblemDetails is a [ShapeFunc]: problem details for HTTP APIs (RFC 9457). The member
// detail is the message; code, params, errors (the problems of a validation), details and
// requestId are extension members. The member type is absent, which means about:blank.
func ProblemDetails(v View) (contentType string, body any) {
	problem := problemBody{
		Title: statusName(v.Status), Status: v.Status, Detail: v.Messages[0],
		Code: v.Code, Params: v.Params, Details: v.Details, RequestID: v.RequestID,
	}
	if v.IsValidation {
		problem.Detail, problem.Errors = "the request is not valid", v.Messages
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
	Details   any      `json:"details,omitempty"`
	RequestID string   `json:"requestId,omitempty"`
}
