// Package starting decides whether `refit upgrade` may start an operation, and starts it.
package starting
