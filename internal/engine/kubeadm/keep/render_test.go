package keep

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/drift"
)

// realKubeadm returns a kubeadm that the testbed has built, and its version.
func realKubeadm(t *testing.T, minor string) (kubeadm.Kubeadm, string) {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("there is no cache of built programs: %v", err)
	}
	found, err := filepath.Glob(filepath.Join(cache, "refit-testbed", "kubernetes", minor+".*", "bin", "kubeadm"))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Skipf("kubeadm of %s has not been built here: bin/testbed build --kubernetes %s.X", minor, minor)
	}
	slices.Sort(found)
	path := found[len(found)-1]
	version, _, _ := strings.Cut(filepath.Base(filepath.Dir(filepath.Dir(path))), "-")
	return kubeadm.Kubeadm{Path: path, Dir: t.TempDir()}, version
}

func render(t *testing.T, k kubeadm.Kubeadm, version, configuration string) kubeadm.Rendered {
	t.Helper()
	config, err := kubeadm.ReadClusterConfig(map[string]string{configKey: configuration})
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := k.Render(t.Context(), kubeadm.RenderInput{
		Config: config, To: version, NodeName: "cp-1", AdvertiseAddress: "10.0.0.12", BindPort: 6443, CRISocket: "unix:///run/containerd/containerd.sock",
	})
	if err != nil {
		t.Fatal(err)
	}
	return rendered
}

// edited returns the manifests after an administrator has edited some of them.
func edited(t *testing.T, rendered kubeadm.Rendered) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for component, text := range rendered {
		var pod corev1.Pod
		if err := yaml.Unmarshal(text, &pod); err != nil {
			t.Fatal(err)
		}
		handEdits[component](&pod)
		changed, err := yaml.Marshal(&pod)
		if err != nil {
			t.Fatal(err)
		}
		out[component] = changed
	}
	return out
}

var handEdits = map[string]func(*corev1.Pod){
	kubeadm.APIServer: func(pod *corev1.Pod) {
		c := &pod.Spec.Containers[0]
		for i, word := range c.Command {
			if strings.HasPrefix(word, "--enable-admission-plugins=") {
				c.Command[i] += ",PodSecurity"
			}
		}
		c.Command = append(c.Command, "--audit-policy-file=/etc/kubernetes/audit/policy.yaml", "--audit-log-path=/var/log/audit/audit.log", "--anonymous-auth=false",
			"--service-account-issuer=https://issuer.example.com", "--encryption-provider-config", "/etc/kubernetes/encryption/config.yaml")
		create := corev1.HostPathDirectoryOrCreate
		for name, mount := range map[string]corev1.VolumeMount{
			"/etc/kubernetes/audit":      {Name: "audit", MountPath: "/etc/kubernetes/audit", ReadOnly: true},
			"/srv/audit":                 {Name: "audit-log", MountPath: "/var/log/audit"},
			"/etc/kubernetes/encryption": {Name: "encryption", MountPath: "/etc/kubernetes/encryption", ReadOnly: true},
			"/run/kms":                   {Name: "kms", MountPath: "/run/kms"},
		} {
			c.VolumeMounts = append(c.VolumeMounts, mount)
			pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{
				Name: mount.Name, VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: name, Type: &create}},
			})
		}
	},
	kubeadm.ControllerManager: func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Command = append(pod.Spec.Containers[0].Command, "--tls-min-version=VersionTLS13")
	},
	kubeadm.Scheduler: func(*corev1.Pod) {},
	kubeadm.Etcd: func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Command = append(pod.Spec.Containers[0].Command, "--cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256")
	},
}

// observed is the input of a decision about hand-edited manifests.
func observed(t *testing.T, manifests map[string][]byte, lost []string, config string, nodes ...string) drift.Input {
	t.Helper()
	in := drift.Input{Node: nodes[0], Pods: drift.Pods{}}
	for _, node := range nodes {
		in.Pods[node] = map[string]drift.Pod{}
		for component, text := range manifests {
			var pod corev1.Pod
			if err := yaml.Unmarshal(text, &pod); err != nil {
				t.Fatal(err)
			}
			in.Pods[node][component] = podOf(&pod)
		}
	}
	for _, text := range lost {
		s, err := drift.ParseSetting(text)
		if err != nil {
			t.Fatal(err)
		}
		in.Lost = append(in.Lost, s)
	}
	var err error
	if in.Config, err = readConfig(config); err != nil {
		t.Fatal(err)
	}
	return in
}

// TestRealKubeadmRendersWhatIsKept loses settings of an administrator, keeps them, and renders the
// same and the next version with all of them.
func TestRealKubeadmRendersWhatIsKept(t *testing.T) {
	now, from := realKubeadm(t, "v1.35")
	later, to := realKubeadm(t, "v1.36")
	config := fixture(t, "v1beta4.yaml")
	rendered := render(t, now, from, config)
	manifests := edited(t, rendered)
	lost := kubeadm.LostSecurity(manifests, rendered)
	if len(lost) != 12 {
		t.Errorf("%d settings would be lost: %q", len(lost), lost)
	}
	d := drift.Decide(observed(t, manifests, lost, config, "cp-1", "cp-2"))
	if len(d.NotKept) > 0 || len(d.Kept) != 3 {
		t.Fatalf("got %+v", d)
	}
	after, err := edit(config, d.Kept)
	if err != nil {
		t.Fatal(err)
	}
	if lost := kubeadm.LostSecurity(manifests, render(t, now, from, after)); len(lost) > 0 {
		t.Errorf("still lost: %q; the configuration is\n%s", lost, after)
	}
	if lost := kubeadm.LostSecurity(manifests, render(t, later, to, after)); len(lost) > 0 {
		t.Errorf("the next version loses %q", lost)
	}
}

// TestRealKubeadmAppliesThePatch keeps settings on one host only.
func TestRealKubeadmAppliesThePatch(t *testing.T) {
	k, version := realKubeadm(t, "v1.35")
	config := fixture(t, "v1beta4.yaml")
	rendered := render(t, k, version, config)
	manifests := edited(t, rendered)
	lost := slices.DeleteFunc(kubeadm.LostSecurity(manifests, rendered), func(setting string) bool {
		return strings.HasSuffix(setting, "--enable-admission-plugins") || strings.HasSuffix(setting, "--service-account-issuer") // kubeadm's own
	})
	in := observed(t, manifests, lost, config, "cp-1")
	in.Pods["cp-2"] = map[string]drift.Pod{}
	d := drift.Decide(in)
	if len(d.NotKept) != 3 || len(d.Kept) != 0 {
		t.Fatalf("got %+v", d)
	}
	k.Patches = t.TempDir()
	for _, e := range d.NotKept {
		text, err := yaml.Marshal(e.Patch)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(k.Patches, drift.PatchFile(e.Component)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	left := kubeadm.LostSecurity(manifests, render(t, k, version, config))
	if want := []string{"kube-apiserver --enable-admission-plugins", "kube-apiserver --service-account-issuer"}; !slices.Equal(left, want) {
		t.Errorf("lost with the patches: %q", left)
	}
}

// TestFlagsThatKubeadmRendersHaveNoPatch renders every security flag of kubeadm: to append one of
// them would set it twice.
func TestFlagsThatKubeadmRendersHaveNoPatch(t *testing.T) {
	k, version := realKubeadm(t, "v1.36")
	rendered := render(t, k, version, fixture(t, "v1beta4.yaml"))
	empty := kubeadm.Rendered{}
	for component, text := range rendered {
		var pod corev1.Pod
		if err := yaml.Unmarshal(text, &pod); err != nil {
			t.Fatal(err)
		}
		pod.Spec.Containers[0].Command = pod.Spec.Containers[0].Command[:1]
		changed, err := yaml.Marshal(&pod)
		if err != nil {
			t.Fatal(err)
		}
		empty[component] = changed
	}
	for _, flag := range kubeadm.LostSecurity(rendered, empty) {
		in := observed(t, rendered, []string{flag}, fixture(t, "v1beta4.yaml"), "cp-1")
		in.Pods["cp-2"] = map[string]drift.Pod{}
		if d := drift.Decide(in); len(d.NotKept) != 1 || d.NotKept[0].Patch != nil {
			t.Errorf("%s has a patch: %+v", flag, d)
		}
	}
}
