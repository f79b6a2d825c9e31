// Package server is the HTTP API of `refit serve`: routes, streams of events, and the permissions
// that each route requires.
//
// A Mirror (internal/engine/operations) keeps a copy of the cluster's upgrades. Reads are answered
// from it, so that they work while the API server is unreachable; each answer has its source and
// its age. Writes carry the credentials of the caller, so that the API server decides.
package server
