// Package apierror writes error responses in one of two shapes, and reads request bodies so
// strictly that a response can name every mistake in them.
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
// A [Handler] returns its failure and writes nothing. A [Writer] turns it into
// an http.Handler and picks the shape: [Writer.Standard] or [Writer.OAuth], or
// [Writer.Page] for what people see.
// Everything that must be the same on every failure is decided there: headers,
// challenges, request ids, logging, recovery from panics. A handler can
// therefore neither forget the no-store headers of an OAuth error nor show the
// text of a database error.
//
// An [Error] returned by an OAuth handler is translated, and so is an
// [OAuthError] returned by a standard one; the readers of bodies need to know
// nothing about the shape that their caller uses. Any other error is an internal
// error: the client gets a 5xx with a request id, the log gets the same id and
// the cause.
//
// # One table
//
// Every code, its status and its English text stand in one table ([Entries]).
// [New] makes an error from it. Texts may be reworded, codes never change. A
// host with codes of its own declares an [Entry] and calls [Entry.New].
//
// # Bodies
//
// [DecodeJSON] and [DecodeForm] refuse what two parsers could read in two ways:
// members that are given twice, names that differ in case only, trailing data,
// strings that are not UTF-8 or hold a NUL. What is wrong with a body is
// collected and answered at once, not one problem at a time; [Validation] does
// the same for the caller's own rules.
package apierror
