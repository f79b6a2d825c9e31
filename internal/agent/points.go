//go:build !crashpoints

package agent

// point is a point at which tests kill the agent; see points_crash.go.
func point(string) {}
