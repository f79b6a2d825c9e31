package web

import (
	_ "embed"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

//go:embed content-security-policy.txt
var policy string

// ContentSecurityPolicy permits what the pages load: files of this server, and nothing inline.
var ContentSecurityPolicy = strings.TrimSpace(policy)

// The build writes a hash of its content into the name of each file in this folder.
const hashed = "assets"

// How long a browser keeps a file. Pages are checked each time, so that they name the files of the
// running version.
const (
	keepForever = "public, max-age=31536000, immutable"
	checkFirst  = "no-cache"
)

// newHandler serves the files of a build. Paths that name no file are pages of the application.
func newHandler(files fs.FS) http.Handler {
	cached := newCache(files)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		securityHeaders(w.Header())
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
		f := cached.file(name)
		switch {
		case f != nil && strings.HasPrefix(name, hashed+"/"):
			w.Header().Set("Cache-Control", keepForever)
		case f != nil:
			w.Header().Set("Cache-Control", checkFirst)
		case strings.HasPrefix(name, hashed+"/"): // of another version: a page in its place would be cached as a script
			http.NotFound(w, r)
			return
		default:
			f = cached.file("index.html")
			w.Header().Set("Cache-Control", checkFirst)
		}
		if f == nil {
			http.NotFound(w, r)
			return
		}
		f.serve(w, r)
	})
}

func securityHeaders(h http.Header) {
	h.Set("Content-Security-Policy", ContentSecurityPolicy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
}
