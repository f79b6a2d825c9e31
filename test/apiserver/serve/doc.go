// Package serve tests the HTTP API with a real API server: who may send which request, what answers
// look like, and what the server reports while the API server hangs or is down.
package serve
