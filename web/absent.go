//go:build !web

package web

import (
	"io"
	"net/http"
)

// Embedded reports whether this binary has the pages.
const Embedded = false

// Handler explains to a browser that this binary has no pages.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "This build of refit has no pages; its HTTP API works. Build it with `make web refit TAGS=web`.\n")
	})
}
