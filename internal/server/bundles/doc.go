// Package bundles collects support bundles into files of the server, and keeps them for a limited
// time. Each belongs to the user who has requested it. Their number is bounded, and none outlives
// the server.
package bundles
