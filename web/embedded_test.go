//go:build web

package web

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strings"
	"testing"
)

var reference = regexp.MustCompile(`(?:src|href)="([^"]*)"`)

func TestTheEmbeddedPageRefersToHashedFilesOnly(t *testing.T) {
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/nodes/cp-1", http.NoBody))
	page := w.Body.String()
	for _, inline := range []string{"<style", " style=", " onload=", "javascript:"} {
		if strings.Contains(page, inline) {
			t.Errorf("the page has %s, which its policy forbids", inline)
		}
	}
	if regexp.MustCompile(`<script[^>]*>[^<]`).MatchString(page) {
		t.Error("the page has an inline script, which its policy forbids")
	}
	found := reference.FindAllStringSubmatch(page, -1)
	if len(found) < 3 {
		t.Fatalf("the page refers to %d files: %s", len(found), page)
	}
	for _, match := range found {
		name := strings.TrimPrefix(match[1], "/")
		if _, err := fs.Stat(dist, path.Join("dist", name)); err != nil {
			t.Errorf("the page refers to %s, which does not exist", match[1])
		}
		if name != "icon.svg" && !strings.HasPrefix(name, hashed+"/") {
			t.Errorf("the page refers to %s, whose name has no hash", match[1])
		}
	}
}
