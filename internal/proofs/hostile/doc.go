// Package hostile sends malformed and malicious requests to the reference server.
package hostile
