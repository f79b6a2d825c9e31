package progress

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/plan"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// Known has the known facts of a node. Everything but the Node may be nil.
type Known struct {
	Node      Node
	Order     *refitv1alpha1.NodeUpgrade
	Report    *refitv1alpha1.NodeReport
	Operation *refitv1alpha1.ClusterUpgrade // the one in progress, or the last one
}

// NewExplanation explains the state of a node in an upgrade. The second argument is the command
// that the user types to run the CLI.
func NewExplanation(clusterName, command string, k Known) *cliv1alpha1.Explanation {
	e := &cliv1alpha1.Explanation{
		APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindExplanation, Cluster: clusterName, Node: k.Node.Name, Host: hostOf(&k),
	}
	if u := k.Operation; u != nil {
		o := NewOperation(clusterName, u, nil, u.CreationTimestamp.Time)
		e.Operation = &cliv1alpha1.ExplainOperation{Name: o.Name, Phase: o.Phase, To: o.To, Message: o.Message}
	}
	addOrder(e, k.Order)
	for _, explains := range reasons {
		if explains(e, &k, command) {
			break
		}
	}
	if w := requiredAction(&k); w != nil && e.Remedy == "" {
		e.Message, e.Remedy = strings.TrimSpace(fmt.Sprintf("%s %s", e.Message, stop(w.Message))), w.Remedy
	}
	if k.Operation != nil && k.Operation.HasEnded() {
		e.Remedy = withoutRetry(strings.ReplaceAll(e.Remedy, command+" retry`", "refit retry`"))
	}
	if !e.Host.Ready && e.Remedy == "" {
		e.Remedy = fmt.Sprintf("Check why the node is not ready: `kubectl describe node %s`, and on the node `journalctl -u kubelet -u refit-agent`", e.Node)
	}
	return e
}

// requiredAction returns what the operation waits for at this node, if that does not end by itself.
func requiredAction(k *Known) *refitv1alpha1.WaitingFor {
	if k.Operation == nil || k.Operation.HasEnded() {
		return nil
	}
	waits := k.Operation.Status.Waiting
	at := slices.IndexFunc(waits, func(w refitv1alpha1.WaitingFor) bool { return w.Node == k.Node.Name && w.ActionRequired })
	if at < 0 {
		return nil
	}
	return &waits[at]
}

// reasons are the possible states of a node. The first that matches is reported.
var reasons = []func(e *cliv1alpha1.Explanation, k *Known, command string) bool{
	idle,    // no operation is in progress
	failed,  // manual intervention is required
	skipped, // its drain timed out, and it is upgraded later
	refused, // its agent rejects the order
	active,  // it is in progress
	leftOut, // the plan does not change it
	done,    // it is at the target version
	waiting, // it is not its turn yet
}

func idle(e *cliv1alpha1.Explanation, k *Known, command string) bool {
	switch u := k.Operation; {
	case u == nil:
		e.State, e.Message = cliv1alpha1.StateIdle, "There has been no upgrade in this cluster."
	case u.HasEnded() && !ours(k):
		e.State, e.Message = cliv1alpha1.StateIdle,
			fmt.Sprintf("No upgrade is in progress; the last one, %s, did not include the node and is %s.", u.Name, u.Status.Phase)
	case u.HasEnded() && (k.Order.Status.Error == nil && !notDrained(k.Order) || u.Status.Phase == refitv1alpha1.PhaseSucceeded):
		e.State, e.Message = cliv1alpha1.StateIdle, fmt.Sprintf("No upgrade is in progress; the last one, %s, is %s.", u.Name, u.Status.Phase)
	default:
		return false
	}
	if k.Report == nil {
		e.Remedy = fmt.Sprintf("Install the agent with `%s install`", command)
	}
	return true
}

// notDrained reports whether the drain of the newest order ended without success.
func notDrained(order *refitv1alpha1.NodeUpgrade) bool {
	drain := order.Status.Drain
	return drain != nil && drain.Sequence == order.Spec.Sequence && (drain.Phase == refitv1alpha1.DrainSkipped || drain.Phase == refitv1alpha1.DrainFailed)
}

// ours reports whether the node's newest order belongs to the operation.
func ours(k *Known) bool { return k.Order != nil && k.Order.Spec.Operation.UID == k.Operation.UID }

func failed(e *cliv1alpha1.Explanation, k *Known, command string) bool {
	if !ours(k) {
		return false
	}
	status, retry := &k.Order.Status, fmt.Sprintf("Fix the cause, then run `%s retry`", command)
	switch drain := status.Drain; {
	case drain != nil && drain.Sequence == k.Order.Spec.Sequence && drain.Phase == refitv1alpha1.DrainFailed:
		e.State, e.Message, e.Remedy = cliv1alpha1.StateFailed, "The node was not drained before the timeout, and the policy of its pool is to fail.", retry
		return true
	case !answered(k.Order), status.Phase != refitv1alpha1.NodeFailed && status.Phase != refitv1alpha1.NodeRolledBack:
		return false
	}
	e.State, e.Message, e.Remedy = cliv1alpha1.StateFailed, "The node failed.", retry
	if err := status.Error; err != nil {
		e.Message = fmt.Sprintf("The node failed at %s: %s.", cmp.Or(err.Step, "its upgrade"), err.Message)
		e.Remedy = withRetry(err.Remedy, retry, command)
	}
	if status.Phase == refitv1alpha1.NodeRolledBack {
		e.Message += " It was rolled back to its old version and is healthy."
	}
	return true
}

// withoutRetry replaces the retry in a remedy, because an operation that has ended cannot retry.
func withoutRetry(remedy string) string {
	return strings.ReplaceAll(remedy, "run `refit retry`", "start another upgrade")
}

// withRetry adds the retry to the remedy of an agent, unless it has one.
func withRetry(remedy, alone, command string) string {
	switch {
	case remedy == "":
		return alone
	case strings.Contains(remedy, "retry`"):
		return remedy
	}
	return fmt.Sprintf("%s Then run `%s retry`", stop(remedy), command)
}

func skipped(e *cliv1alpha1.Explanation, k *Known, command string) bool {
	if !ours(k) || k.Order.Status.Drain == nil || k.Order.Status.Drain.Sequence != k.Order.Spec.Sequence ||
		k.Order.Status.Drain.Phase != refitv1alpha1.DrainSkipped {
		return false
	}
	e.State, e.Message = cliv1alpha1.StateSkipped,
		"The node was not drained before the timeout and was skipped, as its pool's policy requires. It is uncordoned."
	e.Remedy = fmt.Sprintf("Make the listed pods evictable, then run `%s retry`", command)
	return true
}

func refused(e *cliv1alpha1.Explanation, k *Known, command string) bool {
	if !ours(k) {
		return false
	}
	accepted := meta.FindStatusCondition(k.Order.Status.Conditions, refitv1alpha1.ConditionAccepted)
	if accepted == nil || accepted.Status != metav1.ConditionFalse {
		return false
	}
	e.State, e.Message = cliv1alpha1.StateRefused, fmt.Sprintf("The agent rejects the order (%s): %s.", accepted.Reason, accepted.Message)
	e.Remedy = fmt.Sprintf("Check the agent's log on the host (`journalctl -u refit-agent`), then run `%s retry`", command)
	return true
}

func active(e *cliv1alpha1.Explanation, k *Known, _ string) bool {
	if !slices.Contains(k.Operation.Status.Active, k.Node.Name) {
		return false
	}
	var order *refitv1alpha1.NodeUpgrade
	if ours(k) {
		order = k.Order
	}
	progress := NewNodeProgress(k.Node.Name, order)
	e.State, e.Message, e.Progress = cliv1alpha1.StateActive, activityMessages[progress.Activity], &progress
	if len(progress.Blockers) > 0 {
		e.Message = "The node is being drained, and pods block the drain."
		e.Remedy = "Make the listed pods evictable: add replicas, change the disruption budget, or delete pods without a controller"
	}
	if order != nil {
		addTrial(e, order.Status.Trial, order.Spec.Sequence)
	}
	return true
}

// addTrial reports a trial Pod that failed.
func addTrial(e *cliv1alpha1.Explanation, trial *refitv1alpha1.TrialStatus, sequence int64) {
	if trial == nil || trial.Sequence != sequence || trial.Phase != refitv1alpha1.TrialFailed {
		return
	}
	e.Message = fmt.Sprintf("The agent is done, but a Pod on the node is unhealthy: %s.", trial.Message)
	e.Remedy = "Fix the cause; the node is retried automatically"
}

// activityMessages is each activity in a sentence.
var activityMessages = map[string]string{
	cliv1alpha1.ActivityPrefetch: "The node prefetches files and images.",
	cliv1alpha1.ActivityCordon:   "The node was selected and is being cordoned.",
	cliv1alpha1.ActivityDrain:    "The node is being drained.",
	cliv1alpha1.ActivityUpgrade:  "The agent upgrades the host.",
	cliv1alpha1.ActivityRollBack: "The agent rolls the host back.",
	cliv1alpha1.ActivityVerify:   "The agent is done; the node is verified and uncordoned.",
	cliv1alpha1.ActivityFailed:   "Manual intervention is required.",
}

func leftOut(e *cliv1alpha1.Explanation, k *Known, _ string) bool {
	spec := policy.Defaulted(k.Operation.Spec)
	why := policy.Exclusion(&spec, &cluster.Node{
		Name: k.Node.Name, ControlPlane: k.Node.ControlPlane, Labels: k.Node.Labels, OS: k.Node.OS, Ready: readyAnswer(k.Node.Ready),
	})
	if why == "" {
		return false
	}
	e.State, e.Message = cliv1alpha1.StateLeftOut, fmt.Sprintf("The upgrade does not include the node: %s.", why)
	return true
}

func readyAnswer(ready bool) cluster.Answer {
	if ready {
		return cluster.Yes
	}
	return cluster.No
}

func done(e *cliv1alpha1.Explanation, k *Known, _ string) bool {
	if k.Operation.Status.Plan == nil || e.Host.Kubelet != k.Operation.Status.Plan.To || prefetching(k) {
		return false
	}
	e.State, e.Message = cliv1alpha1.StateDone, fmt.Sprintf("The node is at %s.", e.Host.Kubelet)
	if plan.ComponentsAlone(k.Operation.Status.Plan) {
		e.Message = fmt.Sprintf("The node is at %s and does not change: the upgrade changes components only.", e.Host.Kubelet)
	}
	return true
}

// prefetching reports whether the agent fetches for this operation.
func prefetching(k *Known) bool {
	return ours(k) && answered(k.Order) && k.Order.Status.Phase == refitv1alpha1.NodePrefetching
}

func waiting(e *cliv1alpha1.Explanation, k *Known, command string) bool {
	e.State = cliv1alpha1.StateWaiting
	switch {
	case k.Report == nil:
		e.Message = "The node has no agent, so the state of its host is unknown."
		e.Remedy = fmt.Sprintf("Install the agent with `%s install`, or check its pod in the namespace refit-agent", command)
	case ours(k) && k.Order.Status.Phase == refitv1alpha1.NodePrefetching:
		progress := NewNodeProgress(k.Node.Name, k.Order)
		e.Message, e.Progress = "The node prefetches files and images, without disruption.", &progress
	case ours(k) && k.Order.Status.Phase == refitv1alpha1.NodePrefetched:
		e.Message = "The node has prefetched everything and waits for its turn."
	default:
		e.Message = "The node waits for its turn."
	}
	if held := heldVirtualIP(k); held != "" {
		e.Message += fmt.Sprintf(" It holds the virtual IP %s, and the holder of the API endpoint's address is the last control plane node: "+
			"the address moves once, to an upgraded node.", held)
	}
	if doing := k.Operation.Status.Message; doing != "" {
		e.Message += fmt.Sprintf(" The upgrade is %s: %s.", k.Operation.Status.Phase, doing)
	}
	return true
}

// heldVirtualIP returns the virtual IP that a control plane node holds, empty if it holds none.
func heldVirtualIP(k *Known) string {
	if k.Report == nil || !k.Node.ControlPlane {
		return ""
	}
	for _, facts := range k.Report.Status.VirtualIPs {
		if slices.Contains(k.Report.Status.Addresses, facts.Address) && !facts.Shared {
			return facts.Address
		}
	}
	return ""
}

func stop(sentence string) string {
	if sentence == "" || sentence[len(sentence)-1] == '.' {
		return sentence
	}
	return sentence + "."
}
