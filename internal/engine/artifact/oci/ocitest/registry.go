// Package ocitest runs a registry, the one of the CNCF project Distribution, in the process of a
// test.
package ocitest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/distribution/distribution/v3/configuration"
	"github.com/distribution/distribution/v3/registry/handlers"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/inmemory" // the storage below
	"github.com/sirupsen/logrus"                                                 //nolint:depguard // the registry logs with it
)

// New starts an empty registry, and returns its host and port. Between may change what it answers;
// it may be nil.
func New(tb testing.TB, between func(registry http.Handler) http.Handler) (host string) {
	tb.Helper()
	config := &configuration.Configuration{Storage: configuration.Storage{
		"inmemory": {}, "maintenance": {"uploadpurging": map[any]any{"enabled": false}},
	}}
	logrus.SetOutput(io.Discard)
	config.Log.AccessLog.Disabled, config.Catalog.MaxEntries = true, 100
	config.HTTP.Secret = "for tests" // or it logs a warning
	var handler http.Handler = handlers.NewApp(tb.Context(), config)
	if between != nil {
		handler = between(handler)
	}
	server := httptest.NewServer(handler)
	tb.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}
