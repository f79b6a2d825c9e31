package observe

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// tolerationsOf returns the tolerations of a pod that are not limited in time: with the others,
// which admission adds to every pod, it does not stay on a node.
func tolerationsOf(spec *corev1.PodSpec) []cluster.Toleration {
	var out []cluster.Toleration
	for _, t := range spec.Tolerations {
		equal := t.Operator == "" || t.Operator == corev1.TolerationOpEqual
		if t.TolerationSeconds == nil && (equal || t.Operator == corev1.TolerationOpExists) {
			out = append(out, cluster.Toleration{Key: t.Key, Exists: !equal, Value: t.Value, Effect: string(t.Effect)})
		}
	}
	return out
}

// boundToNode reports whether a pod can run on only one node.
func boundToNode(spec *corev1.PodSpec) bool {
	if _, selected := spec.NodeSelector[corev1.LabelHostname]; selected {
		return true
	}
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil {
		return false
	}
	return namesOneNode(spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
}

// namesOneNode reports whether a selector matches at most one node. Its terms are alternatives, so
// each must name that node.
func namesOneNode(s *corev1.NodeSelector) bool {
	if s == nil {
		return false
	}
	var all []string
	for _, term := range s.NodeSelectorTerms {
		names := namesIn(term)
		if len(names) == 0 {
			return false
		}
		for _, name := range names {
			all = include(all, name)
		}
	}
	return len(all) == 1
}

// namesIn returns the nodes that a term allows by name; none if it allows others.
func namesIn(term corev1.NodeSelectorTerm) []string {
	for _, r := range slices.Concat(term.MatchExpressions, term.MatchFields) {
		if (r.Key == corev1.LabelHostname || r.Key == "metadata.name") && r.Operator == corev1.NodeSelectorOpIn {
			return r.Values
		}
	}
	return nil
}
