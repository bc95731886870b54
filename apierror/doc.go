// Package apierror writes error responses in one of two shapes.
//
// # Two shapes
//
// The API and the developer console use the standard shape:
//
//	{"statusCode": 400, "message": "...", "error": "Bad Request",
//	 "code": "UNKNOWN_CURSOR", "params": {"p0": "evt_1"}}
//
// A host can replace it with a [ShapeFunc], such as [ProblemDetails].
//
// The OAuth endpoints use the shape of RFC 6749 section 5.2:
//
//	{"error": "invalid_grant", "error_description": "expired", "message": "expired"}
//
// # Handlers that return errors
//
// A [Handler] that fails returns an error and writes nothing. A [Writer] turns the
// handler into an http.Handler and selects the shape of its errors: [Writer.Standard],
// [Writer.OAuth], or [Writer.Page] for pages. The Writer sets the headers, challenges and
// request ids of every error response, logs internal errors and recovers from panics. A
// handler can therefore neither forget the no-store headers of an OAuth error nor show
// the text of a database error.
//
// The Writer translates an [Error] returned by an OAuth handler, and an error of the OAuth server
// returned by a standard one, so code that both kinds of handler share can return either.
// Any other error is an internal error: the client gets a 5xx with a request id, and the
// log gets the same id and the cause.
//
// # Codes
//
// Clients branch on codes. A host with codes of its own declares an [Entry] and calls
// [Entry.New]. docs/errors.md lists the codes of this module, each with its status and its
// English text. Texts may be reworded; codes never change.
//
// # Problems
//
// A [Validation] collects everything that is wrong with a request, so that the response lists
// all problems and not only the first. Each [Problem] has the path of the member that it is
// about, for shapes and forms that point at it.
package apierror
