package drain

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func withEmptyDir(p *corev1.Pod) {
	p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
}

// withTmpfs adds a volume in memory, as the operator of Prometheus does.
func withTmpfs(p *corev1.Pod) {
	memory := &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}
	p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "config", VolumeSource: corev1.VolumeSource{EmptyDir: memory}})
}

func TestPodThatMayKeepDataIsEvictedOnlyIfItsOwnerIsWaived(t *testing.T) {
	for situation, tt := range map[string]struct {
		kind      string
		change    func(*corev1.Pod)
		waived    string
		protected bool
	}{
		"a Deployment":                   {"ReplicaSet", withEmptyDir, "", false},
		"a StatefulSet":                  {"StatefulSet", withEmptyDir, "", true},
		"a StatefulSet without emptyDir": {"StatefulSet", func(*corev1.Pod) {}, "", false},
		"a StatefulSet with a tmpfs":     {"StatefulSet", withTmpfs, "", false},
		"a StatefulSet with both":        {"StatefulSet", func(p *corev1.Pod) { withTmpfs(p); withEmptyDir(p) }, "", true},
		"a custom owner":                 {"Kafka", withEmptyDir, "", true},
		"a waived StatefulSet":           {"StatefulSet", withEmptyDir, "StatefulSet shop/db", false},
		"another waived StatefulSet":     {"StatefulSet", withEmptyDir, "StatefulSet shop/other", true},
	} {
		t.Run(situation, func(t *testing.T) {
			v := &view{order: Order{DataWaived: func(owner string) bool { return owner == tt.waived }}}
			p := &pod{Pod: trim(newPod("db-0", ownedBy(tt.kind, "db"), tt.change))}
			p.Namespace = "shop"
			if got := v.protected(p); got != tt.protected {
				t.Errorf("it is protected: %t", got)
			}
		})
	}
}
