//go:build e2e

package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// agents is a cluster with Refit's CRDs and an agent on every node. The tests order the agents as
// the controllers do.
type agents struct {
	*bed.Bed

	// orders holds the last order of each node; ordered holds the time it was written.
	orders  map[string]*refitv1alpha1.NodeUpgradeSpec
	ordered map[string]time.Time
	// patches is the directory of kubeadm patches on the hosts, if any.
	patches string
}

// newBed creates a cluster whose agents are built with crash points. Crash points do nothing until
// a test arms them.
func newBed(t *testing.T, spec cluster.Spec) *agents {
	t.Helper()
	program := bed.BuildCrashing(t)
	b := newBareBed(t, spec)
	b.installAgents(t, program)
	return b
}

// newBareBed creates a cluster with Refit's CRDs and without agents.
func newBareBed(t *testing.T, spec cluster.Spec) *agents {
	t.Helper()
	b := &agents{Bed: bed.New(t, spec), orders: map[string]*refitv1alpha1.NodeUpgradeSpec{}, ordered: map[string]time.Time{}}
	must(t, b.installDefinitions(t.Context()))
	t.Cleanup(func() { b.LogIfFailed(t, "nodeupgrades") })
	bed.EndBeforeDeadline(t, func() { b.LogIfFailed(t, "nodeupgrades") })
	return b
}

// installDefinitions applies the CRDs, RBAC and policies that `refit install` applies.
func (b *agents) installDefinitions(ctx context.Context) error {
	for _, folder := range []string{"crd", "rbac", "policy"} {
		files, err := filepath.Glob("../../../config/" + folder + "/*.yaml")
		if err == nil && len(files) == 0 {
			err = errors.New("there is nothing in config/" + folder)
		}
		if err != nil {
			return err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			if _, err := b.Kubectl(ctx, strings.NewReader(string(text)), "apply", "--server-side", "--filename=-"); err != nil {
				return err
			}
		}
	}
	_, err := b.Kubectl(ctx, nil, "wait", "--for=condition=Established", "customresourcedefinitions", "--all", "--timeout=60s")
	return err
}
