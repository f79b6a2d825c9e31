package preflight

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
)

// setting is a component setting that a version may reject.
type setting struct {
	object, where string // the affected object, and where the setting is
	what          string // "--flag", "feature gate X=true"
	edit          string // how to remove it
	harm          string // the consequence; empty: the component would not start
	// rendered is set if kubeadm regenerates the manifest from its configuration, which lacks the
	// setting. The setting is lost then, and does no harm.
	rendered bool
}

// The verbs of a finding about a setting.
const (
	unsupported = "does not support"
	invalid     = "rejects"
)

// judge returns a finding for a setting that one of the hops rejects.
func (v *view) judge(s setting, hops []hop, verb string, rejects func(*kubefacts.Facts) bool) []Finding {
	at, rejected := v.firstRejecting(hops, rejects)
	if !rejected {
		return nil
	}
	harm := s.harm
	if harm == "" {
		harm = "the component would not start"
	}
	has := fmt.Sprintf("%s sets %s, which ", s.where, s.what)
	f := Finding{Object: s.object, Message: fmt.Sprintf("%s%s %s: %s", has, at, verb, harm), Remedy: "Remove it before the upgrade: " + s.edit}
	switch {
	case v.rejectedNow(rejects):
		f.Severity, f.Unknown = Warn, true
		f.Message = fmt.Sprintf("%sRefit does not recognize for %s or %s", has, v.Path.From.MinorString(), at)
		f.Remedy = "Check the Kubernetes release notes for whether it is still supported."
	case s.rendered:
		f.Severity = Warn
		f.Message = fmt.Sprintf("%s%s %s; it is not in the kubeadm configuration, so the upgrade removes it", has, at, verb)
		f.Remedy = "No action is required, unless a kubeadm patch adds it: then remove it from the patch."
	}
	return []Finding{f}
}

// controlPlaneComponents have flags in the kubeadm configuration.
var controlPlaneComponents = []string{kubefacts.KubeAPIServer, kubefacts.KubeControllerManager, kubefacts.KubeScheduler}

// flagSets visits the flags of the control plane: first those in the kubeadm configuration, then
// those of pods that it lacks. A list value of a pod is reduced to the items that the kubeadm
// configuration lacks.
func (v *view) flagSets(visit func(component string, flags map[string]string, s setting)) {
	if !v.movesControlPlane() {
		return
	}
	for _, component := range controlPlaneComponents {
		var extra map[string]string
		if v.s.Kubeadm != nil {
			extra = v.s.Kubeadm.ExtraArgs[component]
			visit(component, extra, setting{object: kubeadmConfig, where: component + " in the kubeadm configuration", edit: editKubeadm})
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

// without returns the items of a list that the kubeadm configuration does not contain.
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
			s.what = "flag --" + name
			rejects := func(f *kubefacts.Facts) bool { return !f.HasFlag(component, name) }
			found = append(found, v.judge(s, v.ahead, unsupported, rejects)...)
		}
	})
	return found
}

func removedAdmissionPlugin(v *view) []Finding {
	var found []Finding
	v.flagSets(func(component string, flags map[string]string, s setting) {
		for _, flag := range []string{"enable-admission-plugins", "disable-admission-plugins"} {
			for _, name := range items(flags[flag]) {
				s.what = fmt.Sprintf("admission plugin %s in --%s", name, flag)
				found = append(found, v.judge(s, v.ahead, unsupported, func(f *kubefacts.Facts) bool {
					_, known := f.AdmissionPlugin(name)
					return component == kubefacts.KubeAPIServer && !known
				})...)
			}
		}
	})
	return found
}

// removedRuntimeConfig: an unknown API version keeps the API server from starting, whether it is
// enabled or disabled.
func removedRuntimeConfig(v *view) []Finding {
	var found []Finding
	v.flagSets(func(component string, flags map[string]string, s setting) {
		for _, item := range items(flags["runtime-config"]) {
			key, _, _ := strings.Cut(item, "=")
			if component != kubefacts.KubeAPIServer {
				continue
			}
			s.what = fmt.Sprintf("%s in --runtime-config", key)
			rejects := func(f *kubefacts.Facts) bool { return !f.AcceptsRuntimeConfig(key) }
			found = append(found, v.judge(s, v.ahead, unsupported, rejects)...)
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
			s.what = fmt.Sprintf("controller %s in --controllers", name)
			found = append(found, v.judge(s, v.ahead, unsupported, func(f *kubefacts.Facts) bool {
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
