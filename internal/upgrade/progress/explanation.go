package progress

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// Known is what is known of a node. Everything but the Node may be nil.
type Known struct {
	Node      Node
	Order     *refitv1alpha1.NodeUpgrade
	Report    *refitv1alpha1.NodeReport
	Operation *refitv1alpha1.ClusterUpgrade // the one in progress, or the last one
}

// NewExplanation explains the state of a node in an upgrade. The program is what the user types to
// run the CLI.
func NewExplanation(clusterName, program string, k Known) *cliv1alpha1.Explanation {
	e := &cliv1alpha1.Explanation{
		APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindExplanation, Cluster: clusterName, Node: k.Node.Name, Host: hostOf(&k),
	}
	if u := k.Operation; u != nil {
		o := NewOperation(clusterName, u, nil, u.CreationTimestamp.Time)
		e.Operation = &cliv1alpha1.ExplainOperation{Name: o.Name, Phase: o.Phase, To: o.To, Message: o.Message}
	}
	addOrder(e, k.Order)
	for _, explains := range reasons {
		if explains(e, &k, program) {
			break
		}
	}
	if !e.Host.Ready && e.Remedy == "" {
		e.Remedy = fmt.Sprintf("it is not ready, see why: kubectl describe node %s; journalctl -u kubelet -u refit-agent on the node", e.Node)
	}
	return e
}

// reasons are the possible states of a node. The first that matches is reported.
var reasons = []func(e *cliv1alpha1.Explanation, k *Known, program string) bool{
	idle,    // no operation is in progress
	failed,  // manual intervention is required
	skipped, // its drain timed out, and it is upgraded later
	refused, // its agent rejects the order
	active,  // it is in progress
	leftOut, // the plan does not change it
	done,    // it is at the target version
	waiting, // it is not its turn yet
}

func idle(e *cliv1alpha1.Explanation, k *Known, program string) bool {
	switch u := k.Operation; {
	case u == nil:
		e.State, e.Says = cliv1alpha1.StateIdle, "No upgrade was ever asked for in this cluster."
	case u.HasEnded() && !ours(k):
		e.State, e.Says = cliv1alpha1.StateIdle, fmt.Sprintf("No upgrade is under way; the last one, %s, did not touch it and is %s.", u.Name, u.Status.Phase)
	case u.HasEnded() && (k.Order.Status.Error == nil || u.Status.Phase == refitv1alpha1.PhaseSucceeded):
		e.State, e.Says = cliv1alpha1.StateIdle, fmt.Sprintf("No upgrade is under way; the last one, %s, is %s.", u.Name, u.Status.Phase)
	default:
		return false
	}
	if k.Report == nil {
		e.Remedy = fmt.Sprintf("It has no agent: `%s install` places one.", program)
	}
	return true
}

// ours is true if the node's newest order belongs to the operation.
func ours(k *Known) bool { return k.Order != nil && k.Order.Spec.Operation.UID == k.Operation.UID }

func failed(e *cliv1alpha1.Explanation, k *Known, program string) bool {
	if !ours(k) {
		return false
	}
	status, retry := &k.Order.Status, fmt.Sprintf("mend the cause, then `%s retry`", program)
	switch drain := status.Drain; {
	case drain != nil && drain.Sequence == k.Order.Spec.Sequence && drain.Phase == refitv1alpha1.DrainFailed:
		e.State, e.Says, e.Remedy = cliv1alpha1.StateFailed, "It could not be emptied in time, and the policy of its pool is to stop then.", retry
		return true
	case !answered(k.Order), status.Phase != refitv1alpha1.NodeFailed && status.Phase != refitv1alpha1.NodeRolledBack:
		return false
	}
	e.State, e.Says, e.Remedy = cliv1alpha1.StateFailed, "It failed.", retry
	if err := status.Error; err != nil {
		e.Says = fmt.Sprintf("It failed at %s: %s.", cmp.Or(err.Step, "its work"), err.Message)
		e.Remedy = fmt.Sprintf("%s Then: `%s retry`", stop(err.Remedy), program)
	}
	if status.Phase == refitv1alpha1.NodeRolledBack {
		e.Says += " It was put back to its old version and is well there."
	}
	return true
}

func skipped(e *cliv1alpha1.Explanation, k *Known, program string) bool {
	if !ours(k) || k.Order.Status.Drain == nil || k.Order.Status.Drain.Sequence != k.Order.Spec.Sequence ||
		k.Order.Status.Drain.Phase != refitv1alpha1.DrainSkipped {
		return false
	}
	e.State, e.Says = cliv1alpha1.StateSkipped, "It could not be emptied in time and was left for later, as the policy of its pool says. It is uncordoned."
	e.Remedy = fmt.Sprintf("let the pods go that are named, then `%s retry`", program)
	return true
}

func refused(e *cliv1alpha1.Explanation, k *Known, program string) bool {
	if !ours(k) {
		return false
	}
	accepted := meta.FindStatusCondition(k.Order.Status.Conditions, refitv1alpha1.ConditionAccepted)
	if accepted == nil || accepted.Status != metav1.ConditionFalse {
		return false
	}
	e.State, e.Says = cliv1alpha1.StateRefused, fmt.Sprintf("Its agent refuses the order (%s): %s.", accepted.Reason, accepted.Message)
	e.Remedy = fmt.Sprintf("see what the agent says on the host: journalctl -u refit-agent; then `%s retry`", program)
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
	e.State, e.Says, e.Progress = cliv1alpha1.StateAtWork, doesSays[progress.Does], &progress
	if len(progress.Blockers) > 0 {
		e.Says = "It is being emptied, and something holds that up."
		e.Remedy = "let the pods go that are named: more replicas, another budget, or delete what nobody makes anew"
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
	e.Says = fmt.Sprintf("Its agent is done, but a Pod on it is not well: %s.", trial.Message)
	e.Remedy = "mend what the Pod lacks; the node is tried again by itself"
}

// doesSays is each activity in a sentence.
var doesSays = map[string]string{
	cliv1alpha1.DoesFetch:   "It fetches what it needs.",
	cliv1alpha1.DoesBegin:   "It was chosen and is being prepared.",
	cliv1alpha1.DoesDrain:   "It is being emptied: its pods move elsewhere.",
	cliv1alpha1.DoesChange:  "Its agent changes the host.",
	cliv1alpha1.DoesPutBack: "Its agent puts the host back.",
	cliv1alpha1.DoesSettle:  "Its agent is done; the node is looked at and uncordoned.",
	cliv1alpha1.DoesFailed:  "It waits for a person.",
}

func leftOut(e *cliv1alpha1.Explanation, k *Known, _ string) bool {
	spec := policy.Defaulted(k.Operation.Spec)
	why := policy.LeftOut(&spec, &cluster.Node{
		Name: k.Node.Name, ControlPlane: k.Node.ControlPlane, Labels: k.Node.Labels, OS: k.Node.OS, Ready: readyAnswer(k.Node.Ready),
	})
	if why == "" {
		return false
	}
	e.State, e.Says = cliv1alpha1.StateLeftOut, fmt.Sprintf("The upgrade does not touch it: %s.", why)
	return true
}

func readyAnswer(ready bool) cluster.Answer {
	if ready {
		return cluster.Yes
	}
	return cluster.No
}

func done(e *cliv1alpha1.Explanation, k *Known, _ string) bool {
	if k.Operation.Status.Plan == nil || e.Host.Kubelet != k.Operation.Status.Plan.To {
		return false
	}
	e.State, e.Says = cliv1alpha1.StateDone, fmt.Sprintf("It is at %s.", e.Host.Kubelet)
	return true
}

func waiting(e *cliv1alpha1.Explanation, k *Known, program string) bool {
	e.State = cliv1alpha1.StateWaiting
	switch {
	case k.Report == nil:
		e.Says = "It has no agent, so nothing is known of its host."
		e.Remedy = fmt.Sprintf("`%s install` places one; if it did, see its pod in the namespace refit-agent", program)
	case ours(k) && k.Order.Status.Phase == refitv1alpha1.NodePrefetching:
		progress := NewNodeProgress(k.Node.Name, k.Order)
		e.Says, e.Progress = "It fetches what it needs; nothing is disrupted by that.", &progress
	case ours(k) && k.Order.Status.Phase == refitv1alpha1.NodePrefetched:
		e.Says = "It has fetched what it needs and waits for its turn."
	default:
		e.Says = "Its turn has not come."
	}
	if doing := k.Operation.Status.Message; doing != "" {
		e.Says += fmt.Sprintf(" The upgrade is %s: %s.", k.Operation.Status.Phase, doing)
	}
	return true
}

func stop(sentence string) string {
	if sentence == "" || sentence[len(sentence)-1] == '.' {
		return sentence
	}
	return sentence + "."
}
