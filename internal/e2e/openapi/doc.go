// Package openapi holds the reference server and its API description against each
// other: routes, requests, responses and webhooks, checked by kin-openapi, which knows
// OpenAPI 3.1 and JSON Schema 2020-12.
package openapi
