package text_test

import (
	"fmt"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
	"github.com/refit-dev/refit/internal/upgrade/preflight"
)

var oneBackend = preflight.Finding{
	Check: "WebhookHasOneReplica", Severity: preflight.Warn, Object: "ValidatingWebhookConfiguration policy.example.com",
	Message: "it fails closed and its only backend runs on worker-2: while that node is drained, the API server rejects new pods",
	Remedy:  "Run two replicas on different nodes.",
}

// noAgents stands for all findings that require an agent.
var noAgents = preflight.Finding{
	Check: "AgentMissing", Severity: preflight.Block, Unknown: true, Deferred: true,
	Message: "no agent yet on 5 of 5 nodes (cp-1, cp-2, cp-3 and 2 more), so these checks are unanswered: EtcdMemberUnhealthy, EtcdLearner, EtcdAlarm, " +
		"EtcdNearQuota, RemovedKubeletFlag, RemovedKubeletField, DiskTooSmall, InodesLow, CgroupV1, CertificateExpired, ClockSkewed, SwapOn",
	Remedy: "Install the agents: `refit install`. An upgrade does not start without them.",
}

func manyFindings() []preflight.Finding {
	findings := []preflight.Finding{
		{
			Check: "BudgetNeverAllows", Severity: preflight.Block, Object: "PodDisruptionBudget shop/cart",
			Message: "shop/cart requires 3 of 3 pods to be healthy, so it never allows a disruption: 2 pods on worker-1, worker-2 cannot be evicted",
			Remedy:  "Add a replica, or replace minAvailable with maxUnavailable: 1.",
		},
		{
			Check: "EtcdMemberUnhealthy", Severity: preflight.Block, Binding: true, Unknown: true, Object: "etcd member cp-2",
			Message: "it is unreachable: dial tcp 10.0.0.2:6443: i/o timeout",
			Remedy:  "Run the check on a host that can reach 10.0.0.2:6443, such as cp-1.",
		},
		{
			Check: "RemovedComponentFlag", Severity: preflight.Block, Object: "Node cp-1",
			Message: "kube-apiserver has the flag --cloud-provider, which v1.36 removed: it would not start",
			Remedy:  "Remove it before the upgrade: kubectl -n kube-system edit configmap kubeadm-config, and in the manifest on the node.",
		},
		{
			Check: "RemovedComponentFlag", Severity: preflight.Block, Object: "Node cp-2",
			Message: "kube-apiserver has the flag --cloud-provider, which v1.36 removed: it would not start",
			Remedy:  "Remove it before the upgrade: kubectl -n kube-system edit configmap kubeadm-config, and in the manifest on the node.",
		},
		{
			Check: "PartUnreadable", Severity: preflight.Warn, Unknown: true, Object: "Helm releases",
			Message: "the Helm releases could not be read: secrets is forbidden. Unanswered checks: RemovedAPIInHelmRelease",
			Remedy:  "Use a kubeconfig with this permission.",
		},
		oneBackend,
		{
			Check: "UnmanagedPod", Severity: preflight.Warn, Object: "Pod default/debug",
			Message: "default/debug has no controller: draining worker-1 deletes it permanently", Remedy: "Delete it, or create it with a Deployment.",
		},
		{
			Check: "UnmanagedPod", Severity: preflight.Warn, Object: "Pod default/shell",
			Message: "default/shell has no controller: draining worker-2 deletes it permanently", Remedy: "Delete it, or create it with a Deployment.",
		},
		{
			Check: "NodeCordonedByHand", Severity: preflight.Block, Object: "Node worker-2",
			Message: "worker-2 is cordoned, and not by Refit", Remedy: "Uncordon it: kubectl uncordon worker-2",
			Waived: &refitv1alpha1.Waiver{Check: "NodeCordonedByHand", Object: "Node worker-2", Reason: "disk is swapped on Thursday, TICKET-4711"},
		},
		{Check: "GitOpsActive", Severity: preflight.Info, Message: "Argo CD may revert what the upgrade changes"},
	}
	return append(findings, noAgents)
}

func onManyNodes() []preflight.Finding {
	var findings []preflight.Finding
	for i := range 833 {
		findings = append(findings, preflight.Finding{
			Check: "PodNodeBound", Severity: preflight.Warn, Object: fmt.Sprintf("Node worker-%d", 3*i+1),
			Message: phrase.Count(1+i%3, "pod") + " with local volumes can run only on this node",
			Remedy:  "No action is required if the applications tolerate it.",
		})
	}
	return append(findings, noAgents)
}
