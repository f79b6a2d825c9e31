//go:build !crashpoints

package agent

// point is where tests kill the agent; see points_crash.go.
func point(string) {}
