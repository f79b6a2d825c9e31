// Package cli tests the commands of refit that steer an upgrade, as a program, on a real API server with Refit's kinds and policies. There are no nodes and no
// controllers: the tests write the statuses.
package cli
