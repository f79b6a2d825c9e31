package kubeadm

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// maxDifference is the maximum length of a difference in a NodeReport.
const maxDifference = 160

// Drift lists the differences between the manifests on disk and those that kubeadm renders, which
// an upgrade would undo. Use a rendering by kubeadm of the current minor version: a newer one
// renders other flags. Drift ignores image tags, and the initial-cluster flags of etcd, which
// differ on every node that joined. It omits values, since some are secret.
func Drift(onDisk, rendered map[string][]byte) []string {
	var drift []string
	for _, component := range Components() {
		want, wanted := rendered[component]
		have, exists := onDisk[component]
		if !wanted || !exists { // a missing manifest is reported apart
			continue
		}
		after, err := Parse(want)
		if err != nil {
			continue
		}
		before, err := Parse(have)
		if err != nil {
			drift = append(drift, component+": the manifest is not readable")
			continue
		}
		for _, difference := range differences(before, after) {
			drift = append(drift, refitv1alpha1.Clip(component+": "+difference, maxDifference))
		}
	}
	return drift
}

func differences(disk, kubeadm Manifest) []string {
	var found []string
	add := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	compare(flagsOf(disk), flagsOf(kubeadm), "the flag --%s", add)
	if !slices.Equal(words(disk), words(kubeadm)) {
		add("the command differs from that of kubeadm")
	}
	compare(disk.Env, kubeadm.Env, "the environment variable %s", add)
	compare(mountsByPath(disk), mountsByPath(kubeadm), "the mount %s", add)
	compare(disk.Resources.Requests, kubeadm.Resources.Requests, "the request for %s", add)
	compare(disk.Resources.Limits, kubeadm.Resources.Limits, "the limit of %s", add)
	was, _ := splitImage(disk.Image)
	if will, _ := splitImage(kubeadm.Image); was != will {
		add("the image is %s, that of kubeadm is %s", was, will)
	}
	if have, want := len(disk.Pod.Spec.Containers), len(kubeadm.Pod.Spec.Containers); have != want {
		add("the pod has %d containers, that of kubeadm has %d", have, want)
	}
	return found
}

// compare adds the entries in which two maps differ, sorted by name.
func compare[M ~map[K]V, K ~string, V any](disk, kubeadm M, what string, add func(string, ...any)) {
	names := slices.Concat(slices.Collect(maps.Keys(disk)), slices.Collect(maps.Keys(kubeadm)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		a, onDisk := disk[name]
		b, rendered := kubeadm[name]
		switch {
		case !rendered:
			add(what+" is not set by kubeadm", name)
		case !onDisk:
			add(what+" of kubeadm is missing", name)
		case !equality.Semantic.DeepEqual(a, b):
			add(what+" differs from that of kubeadm", name)
		}
	}
}

// flagsOf returns the flags that are compared.
func flagsOf(m Manifest) map[string][]string {
	flags := maps.Clone(m.Flags)
	maps.DeleteFunc(flags, func(name string, _ []string) bool {
		return m.Component == Etcd && strings.HasPrefix(name, "initial-cluster")
	})
	return flags
}

// words returns the words of a command that are not flags.
func words(m Manifest) []string {
	return slices.DeleteFunc(slices.Clone(m.Command), func(word string) bool { return strings.HasPrefix(word, "-") })
}

func mountsByPath(m Manifest) map[string]Mount {
	byPath := map[string]Mount{}
	for _, mount := range m.Mounts {
		byPath[mount.Path] = mount
	}
	return byPath
}
