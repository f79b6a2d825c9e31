// Package api has the description of the HTTP API of `refit serve`.
package api

import _ "embed"

// OpenAPI is openapi.yaml, an OpenAPI document.
//
//go:embed openapi.yaml
var OpenAPI []byte
