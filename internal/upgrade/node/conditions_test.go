package node

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestConditionsOfEachPhase(t *testing.T) {
	failure := &refitv1alpha1.NodeError{Reason: "KubeletUnhealthy", Message: "the kubelet is not healthy"}
	for situation, c := range map[string]struct {
		status  refitv1alpha1.NodeUpgradeStatus
		refusal *Refusal
		want    string
	}{
		"it holds":        {refitv1alpha1.NodeUpgradeStatus{Phase: refitv1alpha1.NodeIdle}, nil, "Accepted=True Ready=False Reconciling=False Stalled=False Idle"},
		"it prefetches":   {refitv1alpha1.NodeUpgradeStatus{Phase: refitv1alpha1.NodePrefetching}, nil, "Accepted=True Ready=False Reconciling=True Stalled=False Prefetching"},
		"it prefetched":   {refitv1alpha1.NodeUpgradeStatus{Phase: refitv1alpha1.NodePrefetched}, nil, "Accepted=True Ready=False Reconciling=False Stalled=False Prefetched"},
		"it applies":      {refitv1alpha1.NodeUpgradeStatus{Phase: refitv1alpha1.NodeApplying}, nil, "Accepted=True Ready=False Reconciling=True Stalled=False Applying"},
		"it succeeded":    {refitv1alpha1.NodeUpgradeStatus{Phase: refitv1alpha1.NodeSucceeded}, nil, "Accepted=True Ready=True Reconciling=False Stalled=False Succeeded"},
		"it failed":       {refitv1alpha1.NodeUpgradeStatus{Phase: refitv1alpha1.NodeFailed, Error: failure}, nil, "Accepted=True Ready=False Reconciling=False Stalled=True KubeletUnhealthy"},
		"it rolls back":   {refitv1alpha1.NodeUpgradeStatus{Phase: refitv1alpha1.NodeRollingBack}, nil, "Accepted=True Ready=False Reconciling=True Stalled=False RollingBack"},
		"it rolled back":  {refitv1alpha1.NodeUpgradeStatus{Phase: refitv1alpha1.NodeRolledBack}, nil, "Accepted=True Ready=False Reconciling=False Stalled=True RolledBack"},
		"it is refused":   {refitv1alpha1.NodeUpgradeStatus{Phase: refitv1alpha1.NodeSucceeded}, &Refusal{Reason: "StaleEpoch"}, "Accepted=False Ready=False Reconciling=False Stalled=True StaleEpoch"},
		"nothing is done": {refitv1alpha1.NodeUpgradeStatus{}, nil, "Accepted=True Ready=False Reconciling=False Stalled=False Idle"},
	} {
		conditions := Conditions(nil, Observed{Status: &c.status, Generation: 3, Refusal: c.refusal}, time.Unix(1e9, 0))
		var got []string
		for _, condition := range conditions {
			got = append(got, condition.Type+"="+string(condition.Status))
			if condition.ObservedGeneration != 3 {
				t.Errorf("%s: %s has observedGeneration %d", situation, condition.Type, condition.ObservedGeneration)
			}
		}
		got = append(got, meta.FindStatusCondition(conditions, refitv1alpha1.ConditionReady).Reason)
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", situation, got, c.want)
		}
	}
}

func TestConditionsKeepTheTimeOfTheirLastTransition(t *testing.T) {
	status := &refitv1alpha1.NodeUpgradeStatus{Phase: refitv1alpha1.NodeApplying}
	first := time.Unix(1e9, 0)
	conditions := Conditions(nil, Observed{Status: status}, first)
	conditions = Conditions(conditions, Observed{Status: status, Waiting: "etcd member cp-3 is unreachable"}, first.Add(time.Minute))
	if ready := meta.FindStatusCondition(conditions, refitv1alpha1.ConditionReady); !ready.LastTransitionTime.Time.Equal(first) {
		t.Errorf("Ready changed at %s", ready.LastTransitionTime)
	}
	if !meta.IsStatusConditionTrue(conditions, refitv1alpha1.ConditionWaiting) {
		t.Error("Waiting is missing")
	}
	conditions = Conditions(conditions, Observed{Status: status}, first.Add(time.Hour))
	if meta.FindStatusCondition(conditions, refitv1alpha1.ConditionWaiting) != nil {
		t.Error("Waiting is still there")
	}
}

func TestConditionsFitTheirCRD(t *testing.T) {
	long := strings.Repeat("ü", 1000)
	for _, c := range Conditions(nil, Observed{Status: &refitv1alpha1.NodeUpgradeStatus{}, Refusal: &Refusal{Reason: strings.Repeat("A", 90), Message: long}, Waiting: long}, time.Unix(1e9, 0)) {
		if len([]rune(c.Message)) > refitv1alpha1.MaxNodeConditionMessage || len([]rune(c.Reason)) > refitv1alpha1.MaxNodeConditionReason {
			t.Errorf("%s: %d and %d characters", c.Type, len([]rune(c.Reason)), len([]rune(c.Message)))
		}
		if !regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`).MatchString(c.Reason) {
			t.Errorf("%s: the API refuses the reason %q", c.Type, c.Reason)
		}
	}
}

func TestTheStatusListsWhatARollbackLeft(t *testing.T) {
	state := &State{Left: []string{"/etc/containerd/config.toml: " + strings.Repeat("ü", 300), "2", "3", "4", "5", "6"}}
	left := state.Status().Left
	if more := state.Status().MoreLeft; more != 2 {
		t.Errorf("%d are not listed, want 2", more)
	}
	if len(left) != refitv1alpha1.MaxLeft || len([]rune(left[0])) != refitv1alpha1.MaxLeftText || left[1] != "2" {
		t.Errorf("%q", left)
	}
}
