package supportbundle

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// PodName is the value of app.kubernetes.io/name of the Pods, by which those of killed runs are
// found, and the begin of their names.
const PodName = "refit-support-bundle"

// podLabels select the Pods.
func podLabels() labels.Set { return labels.Set{"app.kubernetes.io/name": PodName} }

// journalMounts are the directories that the Pod mounts, read-only, under the same paths. Their
// parents are mounted because they always exist: a missing directory would be created, and
// /var/log/journal would make journald write to the disk.
var journalMounts = []struct{ name, path string }{{"var-log", "/var/log"}, {"run-log", "/run/log"}}

// source is the image of the agents, and the names of the Secrets that it is pulled with.
type source struct {
	image       string
	pullSecrets []corev1.LocalObjectReference
}

// podOf returns the Pod that prints the journals of a node. The admission policy
// refit-agent-namespace accepts exactly this shape.
func podOf(node string, from source, args []string, timeout time.Duration) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: PodName + "-", Namespace: namespaceAgent,
			Labels: map[string]string{"app.kubernetes.io/name": PodName, "app.kubernetes.io/part-of": "refit"},
		},
		Spec: corev1.PodSpec{
			NodeName:                     node, // the scheduler skips cordoned nodes
			Tolerations:                  []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			RestartPolicy:                corev1.RestartPolicyNever,
			ActiveDeadlineSeconds:        new(int64(timeout.Seconds())),
			AutomountServiceAccountToken: new(false),
			EnableServiceLinks:           new(false),
			ImagePullSecrets:             from.pullSecrets,
			// Not 0: the API would remove the Pod before its containers have ended.
			TerminationGracePeriodSeconds: new(int64(1)),
			SecurityContext:               &corev1.PodSecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
			Containers: []corev1.Container{{
				Name: "collect", Image: from.image, ImagePullPolicy: corev1.PullIfNotPresent, Args: args,
				TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
				SecurityContext: &corev1.SecurityContext{
					// Journals belong to root, and there is no other privilege.
					RunAsUser: new(int64(0)), AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
					Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
				Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("32Mi")},
					Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("256Mi")},
				},
			}},
		},
	}
	for _, m := range journalMounts {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: m.name, VolumeSource: corev1.VolumeSource{
			HostPath: &corev1.HostPathVolumeSource{Path: m.path, Type: new(corev1.HostPathDirectory)},
		}})
		pod.Spec.Containers[0].VolumeMounts = append(pod.Spec.Containers[0].VolumeMounts, corev1.VolumeMount{Name: m.name, MountPath: m.path, ReadOnly: true})
	}
	return pod
}

// podArguments are the arguments of refit-agent in the Pod.
func (r *run) podArguments() []string {
	args := []string{
		"host-bundle",
		"--since=" + r.window.Since.Format(time.RFC3339), "--until=" + r.window.Until.Format(time.RFC3339),
		fmt.Sprintf("--max-bytes=%d", r.Limits.Host),
		"--timeout=" + (r.Limits.HostTimeout * 2 / 3).Round(time.Second).String(), // to print what it has before it is stopped
	}
	for _, p := range r.Patterns {
		args = append(args, "--redact="+p.String())
	}
	return args
}
