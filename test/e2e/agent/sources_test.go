//go:build e2e

package agent

import (
	"net/http"
	"os"
)

// Faults of servers.

// away responds as a server that has none of the files.
func away(w http.ResponseWriter, _ *http.Request, _ string) bool {
	w.WriteHeader(http.StatusServiceUnavailable)
	return true
}

// flips changes one byte in the middle of every file.
func flips(w http.ResponseWriter, _ *http.Request, file string) bool {
	content, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	content[len(content)/2] ^= 1
	_, _ = w.Write(content) // the node may have closed the connection
	return true
}

// cuts sends the full length in the header, then only a part of the file, and closes the
// connection, every time.
func cuts(w http.ResponseWriter, _ *http.Request, file string) bool {
	content, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	w.Header().Set("Content-Length", "1")
	_, _ = w.Write(content[:len(content)/3])
	return true
}
