package trial

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Namespace is the namespace of the Pods.
const Namespace = "refit-trial"

// labelSequence is the sequence of the order that the trial follows.
const labelSequence = "refit.dev/sequence"

// The limits of the Pod.
const (
	nonroot  = 65532
	deadline = 120 // seconds; `refit-agent try` ends earlier
)

// podOf returns the Pod for a node. It has the name of the node, so there is never more than one.
func podOf(node string, sequence int64, from source) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: node, Namespace: Namespace,
			Labels: map[string]string{
				"app.kubernetes.io/name": Namespace, "app.kubernetes.io/part-of": "refit", labelSequence: strconv.FormatInt(sequence, 10),
			},
		},
		Spec: corev1.PodSpec{
			NodeName:                     node, // the scheduler skips cordoned nodes
			Tolerations:                  []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			RestartPolicy:                corev1.RestartPolicyNever,
			ActiveDeadlineSeconds:        new(int64(deadline)),
			AutomountServiceAccountToken: new(false),
			EnableServiceLinks:           new(false),
			ImagePullSecrets:             from.pullSecrets,
			// Not 0: the API would remove the Pod before its containers have ended.
			TerminationGracePeriodSeconds: new(int64(1)),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: new(true), RunAsUser: new(int64(nonroot)), RunAsGroup: new(int64(nonroot)),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: "try", Image: from.image, ImagePullPolicy: corev1.PullIfNotPresent, Args: []string{"try"},
				TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
					Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
				Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1m"), corev1.ResourceMemory: resource.MustParse("8Mi")},
					Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")},
				},
			}},
		},
	}
}
