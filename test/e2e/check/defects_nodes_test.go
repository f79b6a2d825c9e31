//go:build e2e

package check

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func nodeDefects() []defect {
	return []defect{
		{
			name:   "a node that somebody cordoned",
			faults: []fault{kubectl([]string{"cordon", "check-worker-1"}, []string{"uncordon", "check-worker-1"})},
			want:   []want{{check: "NodeCordonedByHand", object: "Node check-worker-1"}},
			late:   true,
		},
		{
			name:   "a worker that is not ready",
			faults: []fault{stoppedKubelet("worker-2")},
			want:   []want{{check: "NodeNotReady", object: "Node check-worker-2"}},
			late:   true,
		},
		{
			name:   "a kubelet that is too old",
			faults: []fault{pretended("old", func(s *corev1.NodeStatus) { s.NodeInfo.KubeletVersion = "v1.31.0" })},
			want:   []want{{check: "KubeletTooOld", object: "Node old"}},
			also: []also{
				notReadySoon("old"),
				{check: "ReleaseMissing", object: "ClusterRelease for " + older, why: "a worker that old has to come to the control plane's version first"},
			},
		},
		{
			name:   "a kubelet that is newer than the target",
			faults: []fault{pretended("new", func(s *corev1.NodeStatus) { s.NodeInfo.KubeletVersion = newest })},
			want:   []want{{check: "KubeletNewerThanAPIServer", object: "Node new"}},
			also:   []also{notReadySoon("new")},
		},
		{
			name: "a node whose disk is full",
			faults: []fault{pretended("full", func(s *corev1.NodeStatus) {
				s.Conditions = append(s.Conditions, nodeCondition(corev1.NodeDiskPressure))
			})},
			want:  []want{{check: "NodeUnderPressure", object: "Node full"}},
			also:  []also{notReadySoon("full")},
			alone: "nobody knows the pressure on a node that is not heard of, as this one is after a while",
		},
		{
			name:   "a node with Windows",
			faults: []fault{pretended("panes", func(s *corev1.NodeStatus) { s.NodeInfo.OperatingSystem = "windows" })},
			want:   []want{{check: "WindowsNode", object: "Node panes", weighs: warn}},
		},
	}
}

func controlPlaneDefects() []defect {
	const server = "kube-apiserver"
	return []defect{
		{
			name: "API servers of two versions",
			faults: []fault{
				afterRestore("the API server to be as before", serves("cp-3", older)),
				handEdited("cp-3", server, server+":"+older, server+":"+newer),
				afterSeed("the API server to be newer", serves("cp-3", newer)),
			},
			want: []want{{check: "APIServersMixed", weighs: warn}},
		},
		{
			name:   "an API server that is down",
			faults: []fault{afterRestore("the API server to be back", serves("cp-2", older)), moved("cp-2", server)},
			want:   []want{{check: "APIServerNotReady", object: "API server check-cp-2"}, {check: "ControlPlaneNodeNotReady", object: "Node check-cp-2"}},
			late:   true,
		},
		{
			name:   "a scheduler that is newer than the API servers",
			faults: []fault{handEdited("cp-1", "kube-scheduler", "kube-scheduler:"+older, "kube-scheduler:"+newer)},
			want:   []want{{check: "ControllerSkew", object: "Pod kube-system/kube-scheduler-check-cp-1"}},
			alone:  "beside API servers of two versions it is no newer than the newest",
		},
		{
			name:   "a controller manager that is not ready",
			faults: []fault{handEdited("cp-1", "kube-controller-manager", "path: /healthz", "path: /nowhere")},
			want:   []want{{check: "ControlPlanePodNotReady", object: "Pod kube-system/kube-controller-manager-check-cp-1", weighs: warn}},
		},
		{
			name:   "a scheduler that is not there",
			faults: []fault{moved("cp-3", "kube-scheduler")},
			want:   []want{{check: "StaticPodMissing", object: "Node check-cp-3", says: "kube-scheduler"}},
		},
	}
}

func otherDefects() []defect {
	return []defect{
		{
			name: "an autoscaler at work",
			faults: []fault{objects(fmt.Sprintf(`{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: cluster-autoscaler, namespace: kube-system},
				spec: {holderIdentity: autoscaler-0, leaseDurationSeconds: 7200, renewTime: %q}}`, time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")))},
			want: []want{{check: "ClusterAutoscalerActive", object: "Lease kube-system/cluster-autoscaler", weighs: warn}},
		},
		{
			name:   "another upgrader in the cluster",
			faults: []fault{objects(app{name: "system-upgrade-controller", replicas: 1}.manifest())},
			want:   []want{{check: "OtherUpgrader", object: "Deployment shop/system-upgrade-controller", weighs: warn}},
		},
		{
			name: "a node that is about to be rebooted by somebody else",
			faults: []fault{kubectl(
				[]string{"annotate", "node", "check-worker-1", "weave.works/kured-reboot-in-progress=now"},
				[]string{"annotate", "node", "check-worker-1", "weave.works/kured-reboot-in-progress-"},
			)},
			want: []want{{check: "OtherUpgrader", object: "Node check-worker-1"}},
		},
		{
			name: "nodes that Cluster API made",
			faults: []fault{kubectl(
				[]string{"annotate", "node", "check-worker-1", "cluster.x-k8s.io/machine=worker"},
				[]string{"annotate", "node", "check-worker-1", "cluster.x-k8s.io/machine-"},
			)},
			want: []want{{check: "ClusterAPIManaged", object: "Node check-worker-1", weighs: warn}},
		},
		{
			name:   "no ClusterRelease to install",
			faults: []fault{missing(newer)},
			want:   []want{{check: "ReleaseMissing", object: "ClusterRelease for " + newer}},
			also:   []also{{check: "ReleaseMissing", object: "ClusterRelease for 1.36", why: "the way further leads over it"}},
		},
		{
			name:   "a ClusterRelease that says something else than was signed",
			faults: []fault{objects(release("forged", "v1.36.4", "v1.35.0"))},
			want:   []want{{check: "ReleaseUnreadable", object: "ClusterRelease forged", weighs: warn}},
		},
		{
			name:   "an older upgrade that is not finished",
			faults: []fault{objects(`{apiVersion: refit.dev/v1alpha1, kind: ClusterUpgrade, metadata: {name: earlier}, spec: {target: {kubernetes: v1.35.5}}}`)},
			want:   []want{{check: "OlderOperation", object: "ClusterUpgrade earlier", weighs: info}},
		},
	}
}

// missing returns a fault that deletes a ClusterRelease.
func missing(version string) fault {
	of := objects(release("kubernetes-"+version, version, version))
	return fault{seed: of.restore, restore: of.seed}
}
