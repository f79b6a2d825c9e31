package agent

import (
	"os"
	"path/filepath"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

func TestUpgradeOfAFormerClusterIsReported(t *testing.T) {
	a := killedIn(t, node.StepEtcd, kubeadm.APIServer)
	reserve := filepath.Join(a.Settings.StateDir, "reserve")
	must(t, os.WriteFile(reserve, []byte("reserved"), 0o600))
	must(t, a.readState())
	wantOld(t, kubeadm.APIServer, kubeadm.Etcd)
	openUpgrade(t, a)
	former := a.upgrade
	a.upgrade = nil
	must(t, a.leaveCluster(former))
	if isThere(reserve) {
		t.Error("the disk space stays reserved")
	}
	status, known, _ := a.status.compose()
	if !known || status.ObservedSequence != a.state.Sequence || status.Phase != refitv1alpha1.NodeFailed ||
		status.Error.Reason != "ClusterChanged" || status.Error.Remedy == "" {
		t.Errorf("%+v %+v", status, status.Error)
	}
	stored, err := loadState(a.Settings.StateFile(), machineID)
	if err != nil || stored.Open != "" || stored.Sequence != 7 || stored.Result == nil {
		t.Errorf("%+v, %v", stored, err)
	}
}

// A staged manifest shows that a swap was interrupted, so none may be left after a rollback.
func TestRollbackLeavesNoStagedManifest(t *testing.T) {
	a := killedIn(t, node.StepEtcd, kubeadm.APIServer)
	must(t, a.readState())
	openUpgrade(t, a)
	must(t, a.upgrade.write(node.Record{Kind: node.Finished, Outcome: refitv1alpha1.NodeRolledBack}))
	must(t, a.finish(node.Read(a.upgrade.journal.Records())))
	must(t, os.Remove(manifest(kubeadm.APIServer)))
	must(t, os.Remove(a.Settings.StateFile()))
	must(t, a.readState())
	if isThere(manifest(kubeadm.APIServer)) {
		t.Error("a manifest was restored that its owner removed after the rollback")
	}
}
