package kubeadm

import (
	"context"
	"regexp"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// refuses matches errors of the API server if a webhook or a policy denies a request, or if a
// webhook is unreachable. It does not match a webhook that does not support dry runs: its decision
// is unknown.
var refuses = regexp.MustCompile(`admission webhook "[^"]*" denied|failed calling webhook|ValidatingAdmissionPolicy '[^']*'.* denied`)

// probedRole is a role that every API server reconciles when it starts.
const probedRole = "system:discovery"

// CheckAdmission checks that no webhook or policy denies what an upgrade has to write: the RBAC
// objects that an API server reconciles before it becomes ready, the configuration of kubeadm, and
// system pods. It uses dry runs of writes that change nothing, and ignores their other errors.
func CheckAdmission(ctx context.Context, client kubernetes.Interface) error {
	dry := []string{metav1.DryRunAll}
	patch := metav1.PatchOptions{DryRun: dry, FieldManager: fieldManager}
	empty := []byte(`{}`)
	for _, write := range []struct {
		what string
		try  func() error
	}{
		{"ClusterRole " + probedRole, func() error {
			_, err := client.RbacV1().ClusterRoles().Patch(ctx, probedRole, types.MergePatchType, empty, patch)
			return err
		}},
		{"ClusterRoleBinding " + probedRole, func() error {
			_, err := client.RbacV1().ClusterRoleBindings().Patch(ctx, probedRole, types.MergePatchType, empty, patch)
			return err
		}},
		{"ConfigMap kube-system/kubeadm-config", func() error {
			_, err := client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Patch(ctx, "kubeadm-config", types.MergePatchType, empty, patch)
			return err
		}},
		{"a Pod in kube-system", func() error {
			_, err := client.CoreV1().Pods(metav1.NamespaceSystem).Create(ctx, systemPod(), metav1.CreateOptions{DryRun: dry, FieldManager: fieldManager})
			return err
		}},
	} {
		if err := write.try(); err != nil && refuses.MatchString(err.Error()) {
			return node.ManualIntervention("AdmissionRefuses", err,
				"Exclude system objects from that webhook or policy (namespaceSelector, matchConditions), or remove it"+thenRetry,
				"admission denies what the upgrade has to write: %s", write.what)
		}
	}
	return nil
}

// systemPod is a Pod for dry runs.
func systemPod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "refit-admission", Namespace: metav1.NamespaceSystem},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "pause", Image: "registry.k8s.io/pause"}}},
	}
}
