package steps

import (
	"errors"
	"os"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// containerdHost is a host whose new containerd accepts the configuration, unless it is broken.
func containerdHost(t *testing.T) (*Host, []file, *fakeQuorum) {
	t.Helper()
	h, files, f, _ := binaryHost(t, refitv1alpha1.PartContainerd)
	h.Upgrade.Parts = nil // no file of the ClusterRelease has to be copied
	put(t, containerdConfig, "version = 3\n")
	put(t, h.path("bin", "containerd"), "#!/bin/sh\n! grep -q broken \"$2\"\n")
	must(t, os.Chmod(h.path("bin", "containerd"), 0o700))
	return h, files, f
}

func TestInterruptedSwapOfContainerd(t *testing.T) {
	h, _, _ := containerdHost(t)
	for _, point := range pointsOf(t, h, func() error { return swapContainerd(t.Context(), h) }) {
		t.Run(point, func(t *testing.T) {
			h, files, _ := containerdHost(t)
			run := func() error { return swapContainerd(t.Context(), h) }
			killAt(t, h, point, run)
			if err := run(); !errors.Is(err, errNoSystemd) {
				t.Fatalf("the repeated step: %v", err)
			}
			wantFiles(t, files, "new")
			if err := undoContainerd(t.Context(), h); !errors.Is(err, errNoSystemd) {
				t.Fatalf("the undo: %v", err)
			}
			wantFiles(t, files, "old")
			wantText(t, containerdConfig, "version = 3\n") // the step does not write it
		})
	}
}

func TestContainerdThatRejectsItsConfigurationIsNotInstalled(t *testing.T) {
	h, files, _ := containerdHost(t)
	put(t, containerdConfig, "version = 3\nbroken = true\n")
	if err := swapContainerd(t.Context(), h); err == nil || node.FailureOf(err).Reason != "ConfigNotLoaded" {
		t.Errorf("error %v", err)
	}
	wantFiles(t, files, "old")
}

func TestContainerdIsNotInstalledWithoutAQuorum(t *testing.T) {
	h, files, f := containerdHost(t)
	f.fails = 1
	if err := swapContainerd(t.Context(), h); err == nil || !node.FailureOf(err).NoRollback {
		t.Errorf("error %v", err)
	}
	wantFiles(t, files, "old")
	f.fails = 2 // right before the restart
	if err := swapContainerd(t.Context(), h); err == nil || node.FailureOf(err).NoRollback {
		t.Errorf("error %v", err)
	}
	wantFiles(t, files, "new")
}

// A package may replace its configuration file. An administrator may do so later.
func TestUndoOfContainerdRestoresOnlyWhatTheInstallationWrote(t *testing.T) {
	for situation, tt := range map[string]struct{ since, want string }{
		"still what it wrote": {"", "version = 3\n"},
		"changed since":       {"version = 3 # of an administrator\n", "version = 3 # of an administrator\n"},
	} {
		t.Run(situation, func(t *testing.T) {
			h, _, _ := containerdHost(t)
			must(t, h.track([]string{containerdConfig}, func() error { put(t, containerdConfig, "of the package"); return nil }))
			if tt.since != "" {
				put(t, containerdConfig, tt.since)
			}
			if err := undoContainerd(t.Context(), h); !errors.Is(err, errNoSystemd) {
				t.Fatal(err)
			}
			wantText(t, containerdConfig, tt.want)
		})
	}
}
