//go:build web

package web

import (
	"embed"
	"io/fs"
	"net/http"
)

// `make web` builds this folder.
//
//go:embed dist
var dist embed.FS

// Embedded reports whether this binary has the pages.
const Embedded = true

// Handler serves the pages. It answers all paths: the application has pages at paths of its own.
func Handler() http.Handler {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the folder is embedded
	}
	return newHandler(files)
}
