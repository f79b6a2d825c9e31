package kubefacts

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/version"
)

// facts returns the facts of a minor version that must be supported.
func facts(t *testing.T, minor string) *Facts {
	t.Helper()
	f, supported := For(minor)
	if !supported {
		t.Fatalf("there are no facts about %s", minor)
	}
	return f
}

// allFacts returns the facts of all supported minor versions.
func allFacts(t *testing.T) []*Facts {
	t.Helper()
	var all []*Facts
	for _, minor := range Supported() {
		all = append(all, facts(t, minor))
	}
	return all
}

func TestSupportedMinorsHaveFacts(t *testing.T) {
	if got, want := Supported(), []string{"1.34", "1.35", "1.36", "1.37"}; !slices.Equal(got, want) {
		t.Errorf("Supported() = %v, want %v", got, want)
	}
	for i, f := range allFacts(t) {
		if minor := Supported()[i]; f.Minor() != minor {
			t.Errorf("%s is in the file of %s", f.Version, minor)
		}
		if _, err := version.ParseSemantic(f.Version); err != nil {
			t.Errorf("%s: version: %v", f.Version, err)
		}
		for what, empty := range map[string]bool{
			"etcd": f.Etcd == "", "minimal external etcd": f.MinExternalEtcd == "", "CoreDNS": f.CoreDNS == "", "pause": f.Pause == "",
			"kubeadm's versions": len(f.Kubeadm.ConfigVersions) == 0, "kubeadm's gates": len(f.Kubeadm.Gates) == 0,
			"apply": len(f.Kubeadm.UpgradeApply) == 0, "node": len(f.Kubeadm.UpgradeNode) == 0,
			"plugins": len(f.AdmissionPlugins) == 0, "controllers": len(f.Controllers) == 0, "APIs": len(f.APIs) == 0,
			"kubelet's fields": len(f.KubeletConfig) == 0, "kube-proxy's fields": len(f.KubeProxyConfig) == 0,
			"runtime config": len(f.RuntimeConfig) == 0,
		} {
			if empty {
				t.Errorf("%s: no facts about %s", f.Version, what)
			}
		}
		for _, component := range Components() {
			if !f.HasFlag(component, "help") || !f.HasFlag(component, "feature-gates") {
				t.Errorf("%s: flags of %s are missing", f.Version, component)
			}
			if _, known := f.Gate(component, "AllAlpha"); !known {
				t.Errorf("%s: gates of %s are missing", f.Version, component)
			}
		}
	}
}

func TestFor(t *testing.T) {
	for name, want := range map[string]string{
		"1.36": "1.36", "v1.36": "1.36", "1.36.3": "1.36", "v1.36.99": "1.36", "v1.36.0-rc.1": "1.36",
		"1.33": "", "1.3": "", "1.360": "", "": "", "v": "", "36": "",
	} {
		f, supported := For(name)
		if supported != (want != "") {
			t.Errorf("For(%q): supported is %t", name, supported)
		} else if supported && f.Minor() != want {
			t.Errorf("For(%q) returns %s", name, f.Minor())
		}
	}
}

func TestFactsAreShared(t *testing.T) {
	if facts(t, "1.36") != facts(t, "v1.36.3") {
		t.Error("the facts were read twice")
	}
}

func TestVersionsThatKubeadmInstalls(t *testing.T) {
	for minor, want := range map[string][4]string{
		"1.34": {"3.6.5-0", "3.5.24-0", "v1.12.1", "3.10.1"},
		"1.35": {"3.6.6-0", "3.5.24-0", "v1.13.1", "3.10.1"},
		"1.36": {"3.6.8-0", "3.5.24-0", "v1.14.2", "3.10.2"},
		"1.37": {"3.7.0-0", "3.5.24-0", "v1.14.6", "3.10.2"},
	} {
		f := facts(t, minor)
		if got := [4]string{f.Etcd, f.MinExternalEtcd, f.CoreDNS, f.Pause}; got != want {
			t.Errorf("%s: %v, want %v", minor, got, want)
		}
	}
}

func TestPhasesOfAnUpgrade(t *testing.T) {
	names := func(phases []Phase) string {
		var list []string
		for _, phase := range phases {
			if phase.Hidden {
				phase.Name += " (hidden)"
			}
			list = append(list, phase.Name)
		}
		return strings.Join(list, ", ")
	}
	kubeadm := facts(t, "1.36").Kubeadm
	const apply = "preflight, control-plane, upload-config, upload-config/kubeadm, upload-config/kubelet, kubeconfig (hidden), " +
		"kubelet-config, bootstrap-token, addon, addon/coredns, addon/kube-proxy, post-upgrade"
	if got := names(kubeadm.UpgradeApply); got != apply {
		t.Errorf("apply: %s\nwant %s", got, apply)
	}
	const node = "preflight, control-plane, kubeconfig (hidden), kubelet-config, addon, addon/coredns, addon/kube-proxy, post-upgrade"
	if got := names(kubeadm.UpgradeNode); got != node {
		t.Errorf("node: %s\nwant %s", got, node)
	}
}

func TestKubeadmDeprecatesAConfigurationVersionBeforeItsRemoval(t *testing.T) {
	for minor, want := range map[string]struct{ accepted, deprecated bool }{
		"1.35": {accepted: true, deprecated: true},
		"1.36": {accepted: true, deprecated: true},
		"1.37": {},
	} {
		kubeadm := facts(t, minor).Kubeadm
		old, accepted := kubeadm.ConfigVersion("v1beta3")
		if accepted != want.accepted || old.Deprecated != want.deprecated {
			t.Errorf("%s: v1beta3 is accepted %t, deprecated %t", minor, accepted, old.Deprecated)
		}
		current, accepted := kubeadm.ConfigVersion("v1beta4")
		if !accepted || current.Deprecated || !current.Written {
			t.Errorf("%s: v1beta4 is %+v", minor, current)
		}
	}
	if _, accepted := facts(t, "1.37").Kubeadm.ConfigVersion("v1"); accepted {
		t.Error("1.37 has types for v1, but accepts it only from those who allow experiments")
	}
}

func TestDefaultAdmissionPlugins(t *testing.T) {
	f := facts(t, "1.36")
	for name, want := range map[string]struct{ known, on bool }{
		"NodeRestriction":    {known: true},
		"ServiceAccount":     {known: true, on: true},
		"PodSecurity":        {known: true, on: true},
		"PodSecurityPolicy":  {},
		"noderestriction":    {},
		"AlwaysPullImages":   {known: true},
		"NamespaceLifecycle": {known: true, on: true},
	} {
		plugin, known := f.AdmissionPlugin(name)
		if known != want.known || plugin.Default != want.on {
			t.Errorf("%s: known %t, on %t", name, known, plugin.Default)
		}
	}
	if got := f.AdmissionPlugins[len(f.AdmissionPlugins)-1].Name; got != "AlwaysDeny" {
		t.Errorf("the last plugin is %s", got)
	}
}

func TestAdmissionPluginRemovedBetweenTwoMinors(t *testing.T) {
	var names []string
	for _, plugin := range RemovedAdmissionPlugins(facts(t, "1.36"), facts(t, "1.37")) {
		names = append(names, plugin.Name)
	}
	slices.Sort(names)
	if want := []string{"JobValidation", "PodGroupWorkloadExists"}; !slices.Equal(names, want) {
		t.Errorf("removed: %v, want %v", names, want)
	}
}

func TestRemovedController(t *testing.T) {
	for minor, want := range map[string]bool{"1.36": true, "1.37": false} {
		if _, known := facts(t, minor).Controller("service-lb-controller"); known != want {
			t.Errorf("%s: service-lb-controller is known: %t", minor, known)
		}
	}
	if off, known := facts(t, "1.36").Controller("token-cleaner-controller"); !known || off.Default {
		t.Errorf("token-cleaner-controller is %+v", off)
	}
}

func TestFormerNamesOfControllers(t *testing.T) {
	for _, f := range allFacts(t) {
		for name, want := range map[string]string{"bootstrapsigner": "bootstrap-signer-controller", "tokencleaner": "token-cleaner-controller"} {
			if got, known := f.Controller(name); !known || got.Name != want {
				t.Errorf("%s: %s is %q, known: %t", f.Version, name, got.Name, known)
			}
		}
		if _, known := f.Controller(""); known {
			t.Errorf("%s: the empty name is a controller", f.Version)
		}
	}
}
