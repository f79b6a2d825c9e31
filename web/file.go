package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

// cache has the files of a build, each read and compressed when it is first requested.
type cache map[string]func() *file

func newCache(files fs.FS) cache {
	out := cache{}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			out[name] = sync.OnceValue(func() *file { return read(files, name) })
		}
		return err
	})
	if err != nil {
		panic(err) // the files are in memory
	}
	return out
}

// file returns nil if there is no such file.
func (c cache) file(name string) *file {
	if read, exists := c[name]; exists {
		return read()
	}
	return nil
}

// file is a file of the build.
type file struct {
	mediaType  string
	etag       string
	content    []byte
	compressed []byte // nil where that saves nothing
}

func read(files fs.FS, name string) *file {
	content, err := fs.ReadFile(files, name)
	if err != nil {
		panic(err) // the files are in memory
	}
	sum := sha256.Sum256(content)
	f := &file{mediaType: mediaTypeOf(name), etag: hex.EncodeToString(sum[:16]), content: content}
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is valid
	_, _ = w.Write(content)
	if w.Close() == nil && b.Len() < len(content)*9/10 {
		f.compressed = b.Bytes()
	}
	return f
}

// mediaTypeOf does not depend on the files of the host, which mime also reads.
func mediaTypeOf(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".html":
		return "text/html; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".woff2":
		return "font/woff2"
	}
	if known := mime.TypeByExtension(path.Ext(name)); known != "" {
		return known
	}
	return "application/octet-stream"
}

// serve answers with the file, compressed for clients that accept it.
func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	body, etag := f.content, f.etag
	if f.compressed != nil {
		w.Header().Add("Vary", "Accept-Encoding")
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			body, etag = f.compressed, f.etag+"-gzip"
			w.Header().Set("Content-Encoding", "gzip")
		}
	}
	w.Header().Set("Content-Type", f.mediaType)
	w.Header().Set("ETag", `"`+etag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}
