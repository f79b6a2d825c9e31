package preflight

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
)

// setting is a setting of a component that a release may refuse.
type setting struct {
	object, where string // who has it, and in words where
	what          string // "--flag", "feature gate X=true"
	edit          string // how to take it out
	harm          string // what would happen, if it is not that the component would not start
	// rendered: kubeadm writes the manifest anew from its configuration, in which the setting is not. Then the setting is lost and does no harm.
	rendered bool
}

// notKnown is why most settings are in the way.
const notKnown = "does not know"

// judge makes a finding of a setting that one of these hops refuses.
func (v *view) judge(s setting, hops []hop, why string, refuses func(*kubefacts.Facts) bool) []Finding {
	at, does := v.firstRefusing(hops, refuses)
	if !does {
		return nil
	}
	harm := s.harm
	if harm == "" {
		harm = "it would not start"
	}
	has := fmt.Sprintf("%s has %s, which ", s.where, s.what)
	f := Finding{Object: s.object, Message: fmt.Sprintf("%s%s %s: %s", has, at, why, harm), Remedy: "Take it out before the upgrade: " + s.edit}
	switch {
	case v.notEvenNow(refuses):
		f.Severity, f.Unknown = Warn, true
		f.Message = fmt.Sprintf("%sRefit does not know, neither of %s nor of %s", has, v.Path.From.MinorString(), at)
		f.Remedy = "See in the release notes of Kubernetes whether it stays."
	case s.rendered:
		f.Severity = Warn
		f.Message = fmt.Sprintf("%s%s %s; it is not in kubeadm's configuration, so the upgrade drops it", has, at, why)
		f.Remedy = "Nothing needs to be done, unless a patch of kubeadm's manifests adds it: then take it out of the patch."
	}
	return []Finding{f}
}

// controlPlaneComponents are those that have flags in kubeadm's configuration.
var controlPlaneComponents = []string{kubefacts.KubeAPIServer, kubefacts.KubeControllerManager, kubefacts.KubeScheduler}

// flagSets walks over the flags of the control plane, first those in kubeadm's configuration, then those of the pods that are not there.
// A flag's value may hold several settings; unless whole, a pod's value is reduced to what kubeadm's configuration does not have.
func (v *view) flagSets(visit func(component string, flags map[string]string, s setting)) {
	if !v.movesControlPlane() {
		return
	}
	for _, component := range controlPlaneComponents {
		var extra map[string]string
		if v.s.Kubeadm != nil {
			extra = v.s.Kubeadm.ExtraArgs[component]
			visit(component, extra, setting{object: kubeadmConfig, where: component + " in kubeadm's configuration", edit: editKubeadm})
		}
		for _, n := range v.controlPlane() {
			only := map[string]string{}
			for name, value := range n.Static[component].Flags {
				if rest, differs := without(value, extra, name); differs {
					only[name] = rest
				}
			}
			visit(component, only, setting{
				object: podObject(component, n), where: component + " on " + n.Name, rendered: v.s.Kubeadm != nil,
				edit: fmt.Sprintf("edit /etc/kubernetes/manifests/%s.yaml on %s", component, n.Name),
			})
		}
	}
}

// without takes the items of a list out that kubeadm's configuration has as well.
func without(value string, extra map[string]string, name string) (rest string, differs bool) {
	known, has := extra[name]
	if !has {
		return value, true
	}
	var items []string
	for item := range strings.SplitSeq(value, ",") {
		if !slices.Contains(strings.Split(known, ","), item) {
			items = append(items, item)
		}
	}
	return strings.Join(items, ","), len(items) > 0
}

func removedComponentFlag(v *view) []Finding {
	var found []Finding
	v.flagSets(func(component string, flags map[string]string, s setting) {
		for _, name := range slices.Sorted(maps.Keys(flags)) {
			s.what = "the flag --" + name
			refuses := func(f *kubefacts.Facts) bool { return !f.HasFlag(component, name) }
			found = append(found, v.judge(s, v.ahead, notKnown, refuses)...)
		}
	})
	return found
}

func removedAdmissionPlugin(v *view) []Finding {
	var found []Finding
	v.flagSets(func(component string, flags map[string]string, s setting) {
		for _, flag := range []string{"enable-admission-plugins", "disable-admission-plugins"} {
			for _, name := range items(flags[flag]) {
				s.what = fmt.Sprintf("the admission plugin %s in --%s", name, flag)
				found = append(found, v.judge(s, v.ahead, notKnown, func(f *kubefacts.Facts) bool {
					_, known := f.AdmissionPlugin(name)
					return component == kubefacts.KubeAPIServer && !known
				})...)
			}
		}
	})
	return found
}

// removedRuntimeConfig: a version that the API server has forgotten keeps it from starting, whether it is turned on or off.
func removedRuntimeConfig(v *view) []Finding {
	var found []Finding
	v.flagSets(func(component string, flags map[string]string, s setting) {
		for _, item := range items(flags["runtime-config"]) {
			key, _, _ := strings.Cut(item, "=")
			if component != kubefacts.KubeAPIServer {
				continue
			}
			s.what = fmt.Sprintf("%s in --runtime-config", key)
			refuses := func(f *kubefacts.Facts) bool { return !f.AcceptsRuntimeConfig(key) }
			found = append(found, v.judge(s, v.ahead, notKnown, refuses)...)
		}
	})
	return found
}

func removedController(v *view) []Finding {
	var found []Finding
	v.flagSets(func(component string, flags map[string]string, s setting) {
		for _, item := range items(flags["controllers"]) {
			name := strings.TrimPrefix(item, "-")
			if component != kubefacts.KubeControllerManager || name == "*" {
				continue
			}
			s.what = fmt.Sprintf("the controller %s in --controllers", name)
			found = append(found, v.judge(s, v.ahead, notKnown, func(f *kubefacts.Facts) bool {
				_, known := f.Controller(name)
				return !known
			})...)
		}
	})
	return found
}

func items(list string) []string {
	return slices.DeleteFunc(strings.Split(list, ","), func(s string) bool { return s == "" })
}
