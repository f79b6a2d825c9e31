package plan

import (
	"fmt"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/orders"
)

// backingUp reports whether the node's agent backs up etcd. Its order keeps the operation and the
// ClusterRelease of the one before, so what was prefetched stays so.
func (v *view) backingUp(n *cluster.Node) bool {
	return n.Upgrade != nil && string(n.Upgrade.Spec.NodeUID) == n.UID && orders.BackingUp(n.Upgrade, v.now)
}

// longBackup is after how long a backup that holds back an upgrade requires manual intervention:
// the agent that takes it may have died.
const longBackup = time.Hour

// waitForBackup waits for the end of a backup: an order before would replace the one to back up,
// and an upgrade restarts the etcd member that the backup is taken from. An agent that does not
// respond is reported: a backup may take hours.
func (d *deciding) waitForBackup(n *cluster.Node) *Wait {
	if !d.backingUp(n) {
		return nil
	}
	if w := agentSilent(d, n, 0); w != nil {
		return w
	}
	name := n.Upgrade.Spec.Backup.Name
	w := &Wait{
		Reason: refitv1alpha1.ReasonWaiting, Node: n.Name, Since: n.Upgrade.Spec.OrderTime.Time,
		Message: fmt.Sprintf("%s waits for EtcdBackup %s, which its agent takes", n.Name, name),
		Remedy:  fmt.Sprintf("The upgrade continues after the backup; its progress: `refit backup show %s`", name),
	}
	if d.now.Sub(w.Since) < longBackup {
		d.busy++
		return w
	}
	w.ManualIntervention = true
	w.Remedy = fmt.Sprintf("Check its progress: `refit backup show %[1]s`. To upgrade without it, delete it: `kubectl delete etcdbackup %[1]s`", name)
	return w
}
