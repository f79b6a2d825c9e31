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

// agents is a bed with Refit's definitions in it and an agent on every node, to which the tests give orders as controllers do.
type agents struct {
	*bed.Bed

	// orders are the last ones by node, ordered is when they were given.
	orders  map[string]*refitv1alpha1.NodeUpgradeSpec
	ordered map[string]time.Time
	// patches is the directory with kubeadm patches on the hosts, if they have one.
	patches string
}

// newBed makes a cluster with agents that have crash points, which do nothing as long as nobody asks them to.
func newBed(t *testing.T, spec cluster.Spec) *agents {
	t.Helper()
	program := bed.BuildCrashing(t)
	b := newBareBed(t, spec)
	b.installAgents(t, program)
	return b
}

// newBareBed makes a cluster with Refit's definitions, without agents.
func newBareBed(t *testing.T, spec cluster.Spec) *agents {
	t.Helper()
	b := &agents{Bed: bed.New(t, spec), orders: map[string]*refitv1alpha1.NodeUpgradeSpec{}, ordered: map[string]time.Time{}}
	must(t, b.installDefinitions(t.Context()))
	t.Cleanup(func() { b.TellIfFailed(t, "nodeupgrades") })
	return b
}

// installDefinitions brings what `refit install` will bring: definitions, rights and policies.
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
