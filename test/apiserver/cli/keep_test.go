//go:build apiserver

package cli

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/kubeadm/keep"
	"github.com/refit-dev/refit/internal/upgrade/drift"
)

const clusterConfiguration = `apiServer: {}
apiVersion: kubeadm.k8s.io/v1beta4
etcd:
  local:
    dataDir: /var/lib/etcd
kind: ClusterConfiguration
kubernetesVersion: v1.35.4
`

// auditSettings are the settings of the API servers, by the flag or path that the configuration has
// once they are kept.
var auditSettings = map[string]string{
	"name: audit-policy-file":          "kube-apiserver --audit-policy-file",
	"mountPath: /etc/kubernetes/audit": "kube-apiserver mount /etc/kubernetes/audit",
}

// keepBed is a control plane of two nodes whose API servers have an audit log that the kubeadm
// configuration lacks, and simulated agents that report it.
func keepBed(t *testing.T) *bed {
	t.Helper()
	return keepBedWith(t, auditSettings)
}

func keepBedWith(t *testing.T, settings map[string]string) *bed {
	t.Helper()
	b := newBed(t)
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "kubeadm-config"}}
	config.Data = map[string]string{"ClusterConfiguration": clusterConfiguration, "other": "kept"}
	b.replace(t, config)
	for _, node := range []string{"cp-1", "cp-2"} {
		b.replace(t, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node, Labels: map[string]string{"node-role.kubernetes.io/control-plane": ""}}})
		b.replace(t, apiServer(node, "--audit-policy-file=/etc/kubernetes/audit/policy.yaml"))
		b.replace(t, &refitv1alpha1.NodeReport{ObjectMeta: metav1.ObjectMeta{Name: node}})
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(ctx context.Context) (bool, error) { return false, b.answerReports(ctx, settings) })
	}()
	t.Cleanup(func() { cancel(); <-ended })
	return b
}

// replace creates an object, after that of the previous test is gone.
func (b *bed) replace(t *testing.T, object client.Object) {
	t.Helper()
	must(t, client.IgnoreNotFound(b.Delete(t.Context(), object.DeepCopyObject().(client.Object), client.GracePeriodSeconds(0))))
	must(t, wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, checkTimeout, true, func(ctx context.Context) (bool, error) {
		err := b.Create(ctx, object)
		return err == nil, client.IgnoreAlreadyExists(err)
	}))
}

// apiServer returns the mirror pod of an API server.
func apiServer(node, flag string) *corev1.Pod {
	readable := corev1.HostPathDirectoryOrCreate
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: metav1.NamespaceSystem, Name: "kube-apiserver-" + node, Labels: map[string]string{"component": "kube-apiserver"},
			Annotations: map[string]string{corev1.MirrorPodAnnotationKey: "0"},
		},
		Spec: corev1.PodSpec{
			NodeName: node, HostNetwork: true,
			Containers: []corev1.Container{{
				Name: "kube-apiserver", Image: "registry.k8s.io/kube-apiserver:v1.35.4", Command: []string{"kube-apiserver", "--allow-privileged=true", flag},
				VolumeMounts: []corev1.VolumeMount{{Name: "audit", MountPath: "/etc/kubernetes/audit", ReadOnly: true}},
			}},
			Volumes: []corev1.Volume{{
				Name: "audit", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/etc/kubernetes/audit", Type: &readable}},
			}},
		},
	}
}

// answerReports answers requests as agents do: with the settings that the configuration lacks.
func (b *bed) answerReports(ctx context.Context, settings map[string]string) error {
	var reports refitv1alpha1.NodeReportList
	if err := b.List(ctx, &reports); err != nil {
		return err
	}
	// After the requests: an answer describes the configuration at its request or later.
	config := &corev1.ConfigMap{}
	if err := b.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: "kubeadm-config"}, config); err != nil {
		return err
	}
	for i := range reports.Items {
		r := &reports.Items[i]
		if r.Spec.Request <= r.Status.Answered {
			continue
		}
		r.Status.Answered, r.Status.Drift = r.Spec.Request, &refitv1alpha1.DriftFacts{Known: true}
		for kept, setting := range settings {
			if !strings.Contains(config.Data["ClusterConfiguration"], kept) {
				r.Status.Drift.SecuritySettings = append(r.Status.Drift.SecuritySettings, setting)
			}
		}
		slices.Sort(r.Status.Drift.SecuritySettings)
		if err := b.Status().Update(ctx, r); err != nil && !apierrors.IsConflict(err) {
			return err
		}
	}
	return nil
}

func (b *bed) kubeadmConfig(t *testing.T) map[string]string {
	t.Helper()
	config := &corev1.ConfigMap{}
	must(t, b.Get(t.Context(), client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: "kubeadm-config"}, config))
	return config.Data
}

func TestKeep(t *testing.T) {
	b := keepBed(t)
	b.refit(t, "keep", "cp-1").want(t, 2, "kube-apiserver --audit-policy-file", "+ - name: audit-policy-file", "use --yes")
	if got := b.kubeadmConfig(t)["ClusterConfiguration"]; got != clusterConfiguration {
		t.Errorf("without confirmation it is\n%s", got)
	}
	b.refit(t, "keep", "cp-1", "--yes").want(t, 0, "+ - name: audit-policy-file", "Kept 2 security settings of cp-1")
	const want = `apiServer:
  extraArgs:
  - name: audit-policy-file
    value: /etc/kubernetes/audit/policy.yaml
  extraVolumes:
  - hostPath: /etc/kubernetes/audit
    mountPath: /etc/kubernetes/audit
    name: audit
    pathType: DirectoryOrCreate
    readOnly: true
`
	if got := b.kubeadmConfig(t); got["ClusterConfiguration"] != want+strings.TrimPrefix(clusterConfiguration, "apiServer: {}\n") || got["other"] != "kept" {
		t.Errorf("it is\n%s", got["ClusterConfiguration"])
	}
	b.refit(t, "keep", "cp-1", "--yes").want(t, 0, "There is nothing to keep")
	b.refit(t, "keep", "cp-2").want(t, 0, "There is nothing to keep")
}

func TestKeepAsJSON(t *testing.T) {
	b := keepBed(t)
	type result struct {
		Kind, Node, Diff string
		Changed          bool
		Kept             []string
	}
	for _, want := range []bool{true, false} {
		ran := b.refit(t, "keep", "cp-1", "--yes", "-o", "json")
		ran.want(t, 0)
		got := decode[result](t, ran.out)
		if got.Kind != "Keep" || got.Node != "cp-1" || got.Changed != want || (len(got.Kept) == 2) != want || strings.Contains(got.Diff, "+  - name: audit-policy-file") != want {
			t.Errorf("%+v", got)
		}
	}
}

func TestKeepRefuses(t *testing.T) {
	b := keepBed(t)
	b.replace(t, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "worker-1"}})
	b.refit(t, "keep").want(t, 2, "name one node")
	b.refit(t, "keep", "worker-1").want(t, 1, "worker-1 is not a control plane node")
	b.refit(t, "keep", "nobody").want(t, 1, "nobody is not a control plane node")
	b.operation(t, "op", func(u *refitv1alpha1.ClusterUpgrade) { u.Status.Active = []string{"cp-2"} })
	b.refit(t, "keep", "cp-1", "--yes").want(t, 1, "operation op is upgrading the control plane node cp-2")
	b.status(t, "op", ended(refitv1alpha1.PhaseAborted))
	b.replace(t, apiServer("cp-2", "--audit-policy-file=/other.yaml"))
	b.refit(t, "keep", "cp-1", "--yes").want(t, 1, "kube-apiserver --audit-policy-file is not the same on cp-2", "/etc/kubernetes/patches/kube-apiserver+json.yaml",
		"value: --audit-policy-file=/etc/kubernetes/audit/policy.yaml", "Nothing was changed")
	if got := b.kubeadmConfig(t)["ClusterConfiguration"]; got != clusterConfiguration {
		t.Errorf("it is\n%s", got)
	}
	must(t, b.Delete(t.Context(), apiServer("cp-2", ""), client.GracePeriodSeconds(0)))
	b.refit(t, "keep", "cp-1", "--yes").want(t, 1, "cannot read the static pod of kube-apiserver on cp-2", "it has no mirror pod")
}

// TestKeepWritesOverNothingElse changes the configuration between the reading and the writing.
func TestKeepWritesOverNothingElse(t *testing.T) {
	b := keepBed(t)
	c := &keep.Cluster{Client: b.Client, Now: time.Now, ReportTimeout: checkTimeout, Waiting: func([]string, time.Duration) {}}
	observed, err := c.Observe(t.Context(), "cp-1")
	must(t, err)
	change, err := observed.Edit(drift.Decide(observed.Input))
	must(t, err)
	config := &corev1.ConfigMap{}
	must(t, b.Get(t.Context(), client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: "kubeadm-config"}, config))
	config.Data["ClusterConfiguration"] = strings.Replace(clusterConfiguration, "v1.35.4", "v1.35.5", 1)
	must(t, b.Update(t.Context(), config))
	if err := c.Write(t.Context(), change); err == nil || !strings.Contains(err.Error(), "was changed since it was read: run the command again") {
		t.Errorf("got %v", err)
	}
	if got := b.kubeadmConfig(t)["ClusterConfiguration"]; !strings.Contains(got, "v1.35.5") || strings.Contains(got, "audit") {
		t.Errorf("it is\n%s", got)
	}
}

// TestKeepVerifiesWhatItWrote has a kubeadm that does not render a setting in spite of the
// configuration.
func TestKeepVerifiesWhatItWrote(t *testing.T) {
	b := keepBedWith(t, map[string]string{"never": "kube-apiserver --audit-policy-file"})
	b.refit(t, "keep", "cp-1", "--yes").want(t, 1, "Kept 1 security setting of cp-1",
		"kubeadm still does not render kube-apiserver --audit-policy-file on cp-1", "kubeadm-config was changed, but that could not be verified on cp-1")
}
