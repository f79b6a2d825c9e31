package etcdbackup

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/orders"
)

// takeTimeout is how long an agent may take to accept its order.
const takeTimeout = 2 * time.Minute

// Observation is what a decision depends on.
type Observation struct {
	Backup *refitv1alpha1.EtcdBackup
	// StoreMissing is set if the BackupStore does not exist.
	StoreMissing bool
	// Prefix and Location are those of the store.
	Prefix, Location string
	// Latest is the node of the latest backup in a store on the disks of hosts; empty if there is
	// none, or if the store is elsewhere.
	Latest string
	Nodes  []cluster.Node
	// Active are the nodes that an upgrade has claimed.
	Active map[string]bool
	// Taking are the names of other EtcdBackups in progress, by node.
	Taking map[string]string
	// Upgrading is the operation that upgrades control plane nodes now, if there is one.
	Upgrading string
	Now       time.Time
}

// Action is what to do next.
type Action struct {
	Kind ActionKind
	// Node is the node of RequestReport, Start, GiveOrder and Withdraw.
	Node *cluster.Node
	// Failure is why EndAttempt and Withdraw end the attempt.
	Failure *refitv1alpha1.BackupError
	// Progress is the agent's status for Follow and Finish.
	Progress *refitv1alpha1.NodeBackupStatus
	// Object is the key of the backup's manifest, for Finish.
	Object string
	// Location is where the store is, for Start: the BackupStore may be gone before the end.
	Location string
	// Wait is why nothing can be done now.
	Wait *Wait
}

// ActionKind is the kind of an Action.
type ActionKind string

// The kinds of actions.
const (
	Nothing       ActionKind = "Nothing"       // the backup has ended
	Waiting       ActionKind = "Waiting"       // see Wait
	RequestReport ActionKind = "RequestReport" // from the agent of the node
	Start         ActionKind = "Start"         // record the next attempt on the node
	GiveOrder     ActionKind = "GiveOrder"     // write the order that was recorded
	Follow        ActionKind = "Follow"        // the agent takes the backup
	EndAttempt    ActionKind = "EndAttempt"    // record that the attempt failed
	Withdraw      ActionKind = "Withdraw"      // the same, and withdraw the order
	Finish        ActionKind = "Finish"        // record the result
)

// Wait is what a backup waits for.
type Wait struct {
	Reason, Message string
	// Stalled is set if only the user can end the wait.
	Stalled bool
}

// Ref returns the reference to the present attempt.
func Ref(b *refitv1alpha1.EtcdBackup) refitv1alpha1.BackupRef {
	return refitv1alpha1.BackupRef{Name: b.Name, UID: b.UID, Attempt: b.Status.Attempt, Store: b.Spec.Store}
}

// Taking returns the names of the EtcdBackups that have an attempt in progress, except for one, by
// the node of that attempt.
func Taking(all []refitv1alpha1.EtcdBackup, except *refitv1alpha1.EtcdBackup) map[string]string {
	out := map[string]string{}
	for i := range all {
		if b := &all[i]; b.UID != except.UID && b.Status.StartTime != nil && b.DeletionTimestamp.IsZero() {
			out[b.Status.Node] = b.Name
		}
	}
	return out
}

// Next returns the next action. An attempt is in progress while status.startTime is set.
func Next(o *Observation) Action {
	status := &o.Backup.Status
	switch {
	case status.StartTime != nil:
		return o.follow()
	case o.Backup.HasEnded():
		return Action{Kind: Nothing}
	case o.StoreMissing:
		return Action{Kind: Waiting, Wait: &Wait{
			Reason: ReasonStoreMissing, Stalled: true,
			Message: "BackupStore " + o.Backup.Spec.Store + " does not exist. Create it, or delete this EtcdBackup",
		}}
	}
	if o.Upgrading != "" && o.Upgrading != o.Backup.Spec.Operation {
		return Action{Kind: Waiting, Wait: &Wait{
			Reason: ReasonUpgradeInProgress, Message: "Waiting until ClusterUpgrade " + o.Upgrading + " has upgraded the control plane, or waits itself",
		}}
	}
	return o.start()
}

// Upgrading reports whether an operation upgrades control plane nodes: other backups would delay
// it. One that is paused, stalled or not approved does not count.
func Upgrading(u *refitv1alpha1.ClusterUpgrade) bool {
	return u.Status.Phase == refitv1alpha1.PhaseRunning && u.Status.Plan != nil &&
		slices.ContainsFunc(u.Status.Plan.Stages, func(s refitv1alpha1.StageSummary) bool {
			return s.Name == refitv1alpha1.StageControlPlane && s.Done < s.Total
		})
}

// pauses are the waits after the first and after the second failed attempt: a network or an etcd
// that fails for a moment must not use up all attempts.
var pauses = [refitv1alpha1.MaxBackupAttempts - 1]time.Duration{10 * time.Second, time.Minute}

// pauses reports whether the next attempt has to wait. A failure in the future comes from a host
// whose clock is ahead.
func (o *Observation) pauses() bool {
	s := &o.Backup.Status
	if s.Error == nil || s.Attempt < 1 || int(s.Attempt) > len(pauses) || s.Error.At.After(o.Now) {
		return false
	}
	return o.Now.Sub(s.Error.At.Time) < pauses[s.Attempt-1]
}

// start chooses a node, after it has requested reports of those that have not reported lately.
func (o *Observation) start() Action {
	if attempt := o.Backup.Status.Attempt; o.pauses() {
		return Action{Kind: Waiting, Wait: &Wait{
			Reason:  ReasonAttemptFailed,
			Message: fmt.Sprintf("Attempt %d failed (%s). Waiting %s before the next one", attempt, o.Backup.Status.Error.Reason, pauses[attempt-1]),
		}}
	}
	for i := range o.Nodes {
		n := &o.Nodes[i]
		if ReportDue(n, o.Now) {
			return Action{Kind: RequestReport, Node: n}
		}
	}
	n, why := Choose(o.Nodes, o.Active, o.Taking, cmp.Or(o.Backup.Status.Node, o.Latest), o.Now)
	if n != nil {
		return Action{Kind: Start, Node: n, Location: o.Location}
	}
	wait := &Wait{Reason: ReasonNoSuitableNode, Message: "No control plane node can take the backup now: " + why}
	// An attempt of another EtcdBackup ends by itself.
	wait.Stalled = len(o.Taking) == 0 && o.Now.Sub(o.Backup.Status.IdleSince(o.Backup.CreationTimestamp.Time)) > takeTimeout
	return Action{Kind: Waiting, Wait: wait}
}

// ReportDue reports whether another report of a node has to be requested. A request that is not
// answered stays as it is: for how long it has been open shows that an agent is silent.
func ReportDue(n *cluster.Node, now time.Time) bool {
	return n.ControlPlane && n.Report != nil && n.Report.Answered >= n.ReportRequest && now.Sub(time.Unix(n.ReportRequest, 0)) >= maxReportAge
}

// follow follows the attempt in progress.
func (o *Observation) follow() Action {
	n := o.node(o.Backup.Status.Node)
	if n == nil {
		return o.end(EndAttempt, nil, "NodeLost", "node "+o.Backup.Status.Node+" has left the cluster", "Refit tries another node")
	}
	ref := Ref(o.Backup)
	elapsed := o.Now.Sub(o.Backup.Status.StartTime.Time)
	u := n.Upgrade
	if u != nil && u.Status.Backup.IsOf(ref) {
		return o.followAgent(n, u.Status.Backup, elapsed)
	}
	if u != nil && u.Spec.Backup == ref {
		return o.followOrder(n, elapsed)
	}
	switch why := Unsuitable(n, o.Active[n.Name], o.Now); {
	case why == "":
		return Action{Kind: GiveOrder, Node: n}
	case elapsed < takeTimeout:
		return Action{Kind: Waiting, Wait: &Wait{Reason: refitv1alpha1.ReasonWaiting, Message: n.Name + " cannot take the backup now: " + why}}
	default:
		return o.end(EndAttempt, nil, "NodeUnsuitable", "node "+n.Name+" cannot take the backup: "+why, "Refit tries another node")
	}
}

// followOrder follows an order that the agent has not started yet.
func (o *Observation) followOrder(n *cluster.Node, elapsed time.Duration) Action {
	if refusal := orders.Refusal(n.Upgrade); refusal != nil {
		return o.end(Withdraw, n, refusal.Reason, "the agent on "+n.Name+" refuses the order: "+refusal.Message,
			"Fix the cause, then create another EtcdBackup")
	}
	if elapsed < takeTimeout {
		return Action{Kind: Waiting, Wait: &Wait{Reason: refitv1alpha1.ReasonPending, Message: "Waiting for the agent on " + n.Name}}
	}
	return o.end(Withdraw, n, "AgentSilent", "the agent on "+n.Name+" does not take the order",
		"Check that it runs: `systemctl status refit-agent; journalctl -u refit-agent`")
}

// followAgent follows the agent's progress.
func (o *Observation) followAgent(n *cluster.Node, progress *refitv1alpha1.NodeBackupStatus, elapsed time.Duration) Action {
	switch {
	case progress.Phase == refitv1alpha1.BackupSucceeded && !o.tried(progress):
		return o.end(EndAttempt, nil, "NotDrilled", "the agent on "+n.Name+" has stored the backup without the drill "+string(o.Backup.Spec.Drill),
			"Install the agent of this version on "+n.Name+": `refit install`")
	case progress.Phase == refitv1alpha1.BackupSucceeded:
		return Action{Kind: Finish, Progress: progress, Object: o.object(progress)}
	case progress.Phase == refitv1alpha1.BackupFailed && progress.Error != nil:
		return Action{Kind: EndAttempt, Failure: progress.Error}
	case progress.Phase == refitv1alpha1.BackupFailed:
		return o.end(EndAttempt, nil, "BackupFailed", "the agent on "+n.Name+" reports no cause", "Check its log: `journalctl -u refit-agent`")
	case elapsed > orders.BackupTimeout:
		return o.end(Withdraw, n, "BackupTimeout", "the backup on "+n.Name+" takes longer than "+orders.BackupTimeout.String(),
			"Check the agent's log: `journalctl -u refit-agent`")
	}
	return Action{Kind: Follow, Progress: progress}
}

// tried reports whether the agent has tried the backup as requested. An agent of a former version
// only stores it.
func (o *Observation) tried(progress *refitv1alpha1.NodeBackupStatus) bool {
	switch o.Backup.Spec.Drill {
	case refitv1alpha1.DrillRehearse:
		return progress.Drilled != nil && len(progress.Rehearsed) > 0
	case refitv1alpha1.DrillRestore:
		return progress.Drilled != nil
	case refitv1alpha1.DrillNone:
	}
	return true
}

func (o *Observation) end(kind ActionKind, n *cluster.Node, reason, message, remedy string) Action {
	return Action{Kind: kind, Node: n, Failure: &refitv1alpha1.BackupError{
		Class: refitv1alpha1.FailureManualIntervention, Reason: reason,
		Message: refitv1alpha1.Clip(message, refitv1alpha1.MaxMessage), Remedy: refitv1alpha1.Clip(remedy, refitv1alpha1.MaxMessage),
		At: metav1.NewTime(o.Now.UTC().Truncate(time.Second)),
	}}
}

// object is the key of the manifest. The agent reports only its digest.
func (o *Observation) object(progress *refitv1alpha1.NodeBackupStatus) string {
	id := backup.ID{UID: string(progress.UID), Attempt: int(progress.Attempt)}
	return backup.Key(o.Prefix, id, backup.ManifestName(progress.Digest))
}

func (o *Observation) node(name string) *cluster.Node {
	for i := range o.Nodes {
		if o.Nodes[i].Name == name {
			return &o.Nodes[i]
		}
	}
	return nil
}
