package text_test

import (
	"fmt"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/preflight"
)

var oneBackend = preflight.Finding{
	Check: "WebhookOnOneNode", Severity: preflight.Warn, Object: "ValidatingWebhookConfiguration policy.example.com",
	Message: "it fails closed and its only backend runs on worker-2: while that node is drained, requests to create pods are refused",
	Remedy:  "run two replicas on different nodes",
}

// noAgents stands for all findings that require an agent.
var noAgents = preflight.Finding{
	Check: "AgentMissing", Severity: preflight.Block, Unknown: true, Deferred: true,
	Message: "5 of 5 nodes have no agent yet (cp-1, cp-2, cp-3 and 2 more), so these checks wait: EtcdMemberUnhealthy, EtcdLearner, EtcdAlarm, " +
		"EtcdNearQuota, RemovedKubeletFlag, RemovedKubeletField, DiskTooSmall, InodesLow, CgroupV1, CertificateExpired, ClockSkewed, SwapOn",
	Remedy: "Refit's agent answers them; `refit install` places it. An upgrade does not start before that.",
}

func manyFindings() []preflight.Finding {
	findings := []preflight.Finding{
		{
			Check: "BudgetNeverAllows", Severity: preflight.Block, Object: "PodDisruptionBudget shop/cart",
			Message: "minAvailable 3 with 3 replicas: none of its pods can ever be evicted, so worker-1 and worker-2 would never be empty",
			Remedy:  "run one replica more, or replace minAvailable by maxUnavailable: 1",
		},
		{
			Check: "EtcdMemberUnhealthy", Severity: preflight.Block, Binding: true, Unknown: true, Object: "etcd member cp-2",
			Message: "it is unreachable: dial tcp 10.0.0.2:6443: i/o timeout",
			Remedy:  "run the check where 10.0.0.2:6443 can be reached, such as on cp-1",
		},
		{
			Check: "FlagRemoved", Severity: preflight.Block, Object: "Node cp-1",
			Message: "kube-apiserver runs with --cloud-provider, which v1.36 does not know: it would not start",
			Remedy:  "remove it from ClusterConfiguration (kubectl -n kube-system edit configmap kubeadm-config) and from the manifest on the node",
		},
		{
			Check: "FlagRemoved", Severity: preflight.Block, Object: "Node cp-2",
			Message: "kube-apiserver runs with --cloud-provider, which v1.36 does not know: it would not start",
			Remedy:  "remove it from ClusterConfiguration (kubectl -n kube-system edit configmap kubeadm-config) and from the manifest on the node",
		},
		{
			Check: "PartUnreadable", Severity: preflight.Warn, Unknown: true, Object: "Helm releases",
			Message: "the Helm releases could not be read: you may not list secrets in all namespaces. Not answered: RemovedAPIInHelmRelease",
			Remedy:  "Ask for the right that the message names, or use a kubeconfig that has it.",
		},
		oneBackend,
		{
			Check: "PodOfNobody", Severity: preflight.Warn, Object: "Pod default/debug",
			Message: "nobody makes it anew: a drain of worker-1 ends it for good", Remedy: "delete it, or give it a Deployment",
		},
		{
			Check: "PodOfNobody", Severity: preflight.Warn, Object: "Pod default/shell",
			Message: "nobody makes it anew: a drain of worker-2 ends it for good", Remedy: "delete it, or give it a Deployment",
		},
		{
			Check: "NodeCordonedByHand", Severity: preflight.Block, Object: "Node worker-2",
			Message: "somebody cordoned it", Remedy: "kubectl uncordon worker-2",
			Waived: &refitv1alpha1.Waiver{Check: "NodeCordonedByHand", Object: "Node worker-2", Reason: "disk is swapped on Thursday, TICKET-4711"},
		},
		{Check: "ImageRepositoryMoved", Severity: preflight.Info, Message: "images come from registry.k8s.io"},
	}
	return append(findings, noAgents)
}

func onManyNodes() []preflight.Finding {
	var findings []preflight.Finding
	for i := range 833 {
		findings = append(findings, preflight.Finding{
			Check: "LocalVolume", Severity: preflight.Warn, Object: fmt.Sprintf("Node worker-%d", 3*i+1),
			Message: fmt.Sprintf("%d pods are bound to it by local volumes and wait until it is back", 1+i%3),
			Remedy:  "nothing, if their applications survive it",
		})
	}
	return append(findings, noAgents)
}
