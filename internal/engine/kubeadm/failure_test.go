package kubeadm

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestOutputOfKubeadmIsClassified(t *testing.T) {
	const prefix = "error: error execution phase upload-config/kubeadm: "
	for _, c := range []struct {
		name, output string
		class        refitv1alpha1.FailureClass
		reason       string
	}{
		{
			"the API server is unreachable", prefix + `failed to get config map: Get "https://10.0.0.1:6443/api": dial tcp 10.0.0.1:6443: connect: connection refused`,
			refitv1alpha1.FailureTransient, "APIUnavailable",
		},
		{"the API server is slow", prefix + "net/http: request canceled (Client.Timeout exceeded while awaiting headers)", refitv1alpha1.FailureTransient, "APIUnavailable"},
		{"etcd has no leader", prefix + "etcdserver: leader changed", refitv1alpha1.FailureTransient, "APIUnavailable"},
		{
			"the API server has not loaded RBAC yet", prefix + `configmaps is forbidden: User "kubernetes-admin" cannot get resource: RBAC: clusterrole.rbac.authorization.k8s.io "cluster-admin" not found`,
			refitv1alpha1.FailureTransient, "APIUnavailable",
		},
		{
			"another writer", prefix + `Operation cannot be fulfilled on configmaps "kubeadm-config": the object has been modified`,
			refitv1alpha1.FailureTransient, "Conflict",
		},
		{"the kubeconfig has no permission", prefix + `configmaps "kubeadm-config" is forbidden: User "x" cannot get resource`, refitv1alpha1.FailureManualIntervention, "KubeadmDenied"},
		{
			"a preflight check of kubeadm", "\t[ERROR CoreDNSUnsupportedPlugins]: there are unsupported plugins\nerror: preflight checks failed",
			refitv1alpha1.FailureManualIntervention, "PreflightRefused",
		},
		{
			"a preflight check without the API", "\t[ERROR ControlPlaneNodesReady]: could not list nodes: connect: connection refused\nerror: preflight checks failed",
			refitv1alpha1.FailureTransient, "APIUnavailable",
		},
		{
			"run twice within a second", prefix + "could not create timestamp directory: mkdir /etc/kubernetes/tmp/kubeadm-kubelet-config-2026-11-15-10-55-54: file exists",
			refitv1alpha1.FailureTransient, "SameSecond",
		},
		{
			"the kubelet recreates its mirror pods", prefix + "failed to determine whether all the control plane instances have been upgraded: cannot find kube-apiserver Pod by label selector: component=kube-apiserver",
			refitv1alpha1.FailureTransient, "MirrorPodStale",
		},
		{
			"the kubelet of one of several recreates its mirror pods",
			prefix + "failed to determine whether all the control plane instances have been upgraded: " +
				"cannot find kube-apiserver image for current control plane instance cp-1",
			refitv1alpha1.FailureTransient, "MirrorPodStale",
		},
		{"anything else", prefix + "something new", refitv1alpha1.FailureManualIntervention, "KubeadmFailed"},
		{
			"an old warning about a connection is not the cause", "W1 connection refused, retrying\n" + prefix + "invalid configuration",
			refitv1alpha1.FailureManualIntervention, "KubeadmFailed",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			exit := exec.CommandContext(t.Context(), "false").Run()
			expect(t, classify(t.Context(), "kubeadm", "x", c.output, exit), c.class, c.reason)
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	expect(t, classify(ctx, "kubeadm", "x", "", ctx.Err()), refitv1alpha1.FailureTransient, "KubeadmInterrupted")
}

func TestMessageHasTheWholeError(t *testing.T) {
	output := "noise\nerror: error execution phase preflight: the version argument is invalid due to these fatal errors:\n\n\t- too high\n\t- too new\n" +
		"To see the stack trace of this error execute with --v=5 or higher\n"
	if got := lastMessage(output); got != "the version argument is invalid due to these fatal errors: - too high - too new" {
		t.Errorf("got %q", got)
	}
	if got := lastMessage(strings.Repeat("x", 3)); got != "xxx" {
		t.Errorf("got %q", got)
	}
}
