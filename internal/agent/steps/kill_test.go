package steps

import (
	"errors"
	"testing"
)

// pointsOf runs a step and returns the points at which its agent can be killed.
func pointsOf(t *testing.T, h *Host, run func() error) []string {
	t.Helper()
	var points []string
	h.Effect = func(name string, change func() error) error {
		points = append(points, name+":before")
		if err := change(); err != nil {
			return err
		}
		points = append(points, name+":after")
		return nil
	}
	_ = run() // the test of the step itself checks its result
	if len(points) == 0 {
		t.Fatal("the step has no effect")
	}
	return points
}

// killAt runs a step whose agent is killed at a point: nothing of the step runs after it.
func killAt(t *testing.T, h *Host, point string, run func() error) {
	t.Helper()
	die := func(at string) {
		if at == point {
			panic(errCrash)
		}
	}
	h.Effect = func(name string, change func() error) error {
		die(name + ":before")
		if err := change(); err != nil {
			return err
		}
		die(name + ":after")
		return nil
	}
	defer func() {
		h.Effect = func(_ string, change func() error) error { return change() }
		if killed, _ := recover().(error); !errors.Is(killed, errCrash) {
			t.Fatalf("the step was not killed at %s: %v", point, killed)
		}
	}()
	_ = run()
}
