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

// refuses are the words of the API server when a webhook or a policy refuses a request, or cannot be asked about it. A webhook that cannot be asked in a dry
// run is none of them: what it would say is not known.
var refuses = regexp.MustCompile(`admission webhook "[^"]*" denied|failed calling webhook|ValidatingAdmissionPolicy '[^']*'.* denied`)

// everybody is a role that every API server writes when it starts, if it is not as its version has it.
const everybody = "system:discovery"

// CheckAdmission sees whether somebody in the cluster refuses what an upgrade has to write: the rights that an API server brings along, without which it does
// not become ready, kubeadm's configuration, and pods of the system. It asks by writes that change nothing and are not stored. What else goes wrong with them
// is not its matter.
func CheckAdmission(ctx context.Context, client kubernetes.Interface) error {
	dry := []string{metav1.DryRunAll}
	patch := metav1.PatchOptions{DryRun: dry, FieldManager: "refit-agent"}
	none := []byte(`{}`)
	for _, write := range []struct {
		what string
		try  func() error
	}{
		{"ClusterRole " + everybody, func() error {
			_, err := client.RbacV1().ClusterRoles().Patch(ctx, everybody, types.MergePatchType, none, patch)
			return err
		}},
		{"ClusterRoleBinding " + everybody, func() error {
			_, err := client.RbacV1().ClusterRoleBindings().Patch(ctx, everybody, types.MergePatchType, none, patch)
			return err
		}},
		{"ConfigMap kube-system/kubeadm-config", func() error {
			_, err := client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Patch(ctx, "kubeadm-config", types.MergePatchType, none, patch)
			return err
		}},
		{"a Pod in kube-system", func() error {
			_, err := client.CoreV1().Pods(metav1.NamespaceSystem).Create(ctx, systemPod(), metav1.CreateOptions{DryRun: dry, FieldManager: "refit-agent"})
			return err
		}},
	} {
		if err := write.try(); err != nil && refuses.MatchString(err.Error()) {
			return node.ManualIntervention("AdmissionRefuses", err,
				"let that webhook or policy leave out what belongs to the system (namespaceSelector, matchConditions), or remove it"+thenRetry,
				"what the upgrade has to write is refused: %s", write.what)
		}
	}
	return nil
}

// systemPod is a Pod that is never stored.
func systemPod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "refit-admission", Namespace: metav1.NamespaceSystem},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "pause", Image: "registry.k8s.io/pause"}}},
	}
}
