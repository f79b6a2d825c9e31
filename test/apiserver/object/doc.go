// Package object tests changes of a component's objects against a real API server.
package object
