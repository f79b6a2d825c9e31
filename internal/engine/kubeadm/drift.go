package kubeadm

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// maxDifference is the length of a sentence in a NodeReport.
const maxDifference = 160

// Drift says where the manifests on disk differ from what kubeadm renders: what an upgrade would take away or bring. It is meant for a rendering by a
// kubeadm of the control plane's current minor; a newer one renders other flags. Image tags differ by intent, and etcd's initial-cluster flags on
// every node that joined. Values are not told: some are secret.
func Drift(onDisk, rendered map[string][]byte) []string {
	var drift []string
	for _, component := range Components() {
		want, asked := rendered[component]
		have, there := onDisk[component]
		if !asked || !there { // a missing manifest is a fact of its own
			continue
		}
		after, err := Parse(want)
		if err != nil {
			continue
		}
		before, err := Parse(have)
		if err != nil {
			drift = append(drift, component+": the manifest cannot be read")
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
	say := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	compare(flagsOf(disk), flagsOf(kubeadm), "the flag --%s", say)
	if !slices.Equal(words(disk), words(kubeadm)) {
		say("it is started by another command than kubeadm's")
	}
	compare(disk.Env, kubeadm.Env, "the environment variable %s", say)
	compare(mountsByPath(disk), mountsByPath(kubeadm), "the mount %s", say)
	compare(disk.Resources.Requests, kubeadm.Resources.Requests, "the request for %s", say)
	compare(disk.Resources.Limits, kubeadm.Resources.Limits, "the limit of %s", say)
	was, _ := splitImage(disk.Image)
	if will, _ := splitImage(kubeadm.Image); was != will {
		say("the image is %s, kubeadm's is %s", was, will)
	}
	if have, want := len(disk.Pod.Spec.Containers), len(kubeadm.Pod.Spec.Containers); have != want {
		say("it has %d containers, kubeadm's has %d", have, want)
	}
	return found
}

// compare tells the entries of two maps that are not the same, by name, in alphabetical order.
func compare[M ~map[K]V, K ~string, V any](disk, kubeadm M, what string, say func(string, ...any)) {
	names := slices.Concat(slices.Collect(maps.Keys(disk)), slices.Collect(maps.Keys(kubeadm)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		a, here := disk[name]
		b, there := kubeadm[name]
		switch {
		case !there:
			say(what+" is not kubeadm's", name)
		case !here:
			say(what+" of kubeadm's is missing", name)
		case !equality.Semantic.DeepEqual(a, b):
			say(what+" has another value than kubeadm's", name)
		}
	}
}

// flagsOf are the flags that say something about how a component was set up.
func flagsOf(m Manifest) map[string][]string {
	flags := maps.Clone(m.Flags)
	maps.DeleteFunc(flags, func(name string, _ []string) bool {
		return m.Component == Etcd && strings.HasPrefix(name, "initial-cluster")
	})
	return flags
}

// words are the words of a command that are no flags.
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
