//go:build e2e

package agent

import (
	"net/http"
	"os"
)

// The faults of servers.

// away is a server that knows nothing any more.
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
	_, _ = w.Write(content) // the node may have hung up
	return true
}

// cuts sends the whole length in the header and a part of the file, and hangs up. It does so each time.
func cuts(w http.ResponseWriter, _ *http.Request, file string) bool {
	content, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	w.Header().Set("Content-Length", "1")
	_, _ = w.Write(content[:len(content)/3])
	return true
}
