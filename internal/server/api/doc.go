// Package api has the routes and documents of the HTTP API, generated from api/openapi.yaml.
package api
