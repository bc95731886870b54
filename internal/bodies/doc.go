// Package bodies reads the bodies of requests within bounds, and forms strictly: a form that two
// parsers could read differently is rejected. Its errors are those of apierror.
package bodies
