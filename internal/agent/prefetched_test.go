package agent

import (
	"os"
	"path/filepath"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/steps"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/journal"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// The journal of the prefetch continues, so that a drained host downloads nothing.
func TestPluginsThatAppearedAfterThePrefetch(t *testing.T) {
	spec := goodOrder("sha256:aa").Spec
	upgrade := func(plugins ...string) *node.Upgrade {
		u := &node.Upgrade{Operation: spec.Operation, Release: spec.Release, NodeUID: nodeUID, NodeName: nodeName, MachineID: machineID}
		u.AddPart(refitv1alpha1.PartFacts{Part: refitv1alpha1.PartCNI, Kind: refitv1alpha1.PackageBinary, Files: plugins})
		return u
	}
	for permit, same := range map[refitv1alpha1.Permit]bool{refitv1alpha1.PermitApply: true, refitv1alpha1.PermitPrefetch: false} {
		t.Run(string(permit), func(t *testing.T) {
			a := newTestAgent(t, &apiStub{})
			fetched := upgrade("bridge")
			dir, err := upgradeName(fetched)
			must(t, err)
			must(t, os.MkdirAll(filepath.Join(a.Settings.UpgradesDir(), dir), 0o700))
			j, err := journal.Create(a.journalFile(dir), machineID, node.Record{Kind: node.Opened, Upgrade: fetched})
			must(t, err)
			before := &runner{journal: j, log: a.Log, host: &steps.Host{Settings: a.Settings, Upgrade: *fetched, Dir: filepath.Dir(a.journalFile(dir))}}
			a.upgrade = before
			entered, err := a.enter(t.Context(), permit, upgrade("bridge", "vlan"), artifact.Release{})
			if same {
				if err != nil || entered != before {
					t.Errorf("another journal is opened: %v", err)
				}
				must(t, j.Close())
				return
			}
			other, failed := upgradeName(upgrade("bridge", "vlan"))
			must(t, failed)
			if !isThere(a.journalFile(other)) {
				t.Errorf("the plugin is not fetched: %v", err)
			}
		})
	}
}
