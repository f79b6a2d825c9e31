package kubeadm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/configpatch"
	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
)

func input(t *testing.T, to, configuration string) RenderInput {
	t.Helper()
	return RenderInput{
		Config: config(t, configuration), To: to, NodeName: "node-cp-2", AdvertiseAddress: "10.0.0.12", BindPort: 6443,
		CRISocket: "unix:///run/containerd/containerd.sock",
	}
}

// realKubeadm is a real kubeadm and the input of its rendering.
func realKubeadm(t *testing.T, minor string) (Kubeadm, string) {
	t.Helper()
	path := program(t, "kubeadm", minor)
	return Kubeadm{Path: path, Dir: t.TempDir()}, versionOf(path)
}

func TestRealKubeadmRenders(t *testing.T) {
	for _, minor := range versions {
		t.Run(minor, func(t *testing.T) {
			k, to := realKubeadm(t, minor)
			rendered, err := k.Render(t.Context(), input(t, to, clusterConfiguration+"featureGates: {WaitForAllControlPlaneComponents: true}\n"))
			if err != nil {
				t.Fatal(err)
			}
			for _, component := range Components() {
				m, err := Parse(rendered[component])
				if err != nil {
					t.Fatal(err)
				}
				if component != Etcd && m.Version() != to {
					t.Errorf("%s: got version %s", component, m.Version())
				}
			}
			m, _ := Parse(rendered[APIServer])
			if got := m.Flags["profiling"]; len(got) != 1 || got[0] != "false" {
				t.Errorf("extraArgs are missing: %v", m.Flags)
			}
			if address, port, err := LocalEndpoint(rendered[APIServer]); err != nil || address != "10.0.0.12" || port != 6443 {
				t.Errorf("got %s, %d, %v", address, port, err)
			}
		})
	}
}

func TestExternalEtcdIsNotRendered(t *testing.T) {
	k, to := realKubeadm(t, "v1.36")
	rendered, err := k.Render(t.Context(), input(t, to, strings.ReplaceAll(clusterConfiguration, "local: {dataDir: /var/lib/etcd}",
		"external: {endpoints: ['https://10.0.0.9:2379'], caFile: /a, certFile: /b, keyFile: /c}")))
	if err != nil {
		t.Fatal(err)
	}
	if _, there := rendered[Etcd]; there || len(rendered) != 3 {
		t.Errorf("got %d manifests", len(rendered))
	}
}

func TestPatchesOfTheHostAreRendered(t *testing.T) {
	k, to := realKubeadm(t, "v1.36")
	k.Patches = t.TempDir()
	write(t, filepath.Join(k.Patches, "kube-apiserver+merge.yaml"), "metadata: {annotations: {patched: here}}\n")
	rendered, err := k.Render(t.Context(), input(t, to, clusterConfiguration))
	if err != nil {
		t.Fatal(err)
	}
	if m, _ := Parse(rendered[APIServer]); m.Annotations["patched"] != "here" {
		t.Errorf("got annotations %v", m.Annotations)
	}
	write(t, filepath.Join(k.Patches, "kube-scheduler+merge.yaml"), "metadata: {labels: {component: other}}\n")
	_, err = k.Render(t.Context(), input(t, to, clusterConfiguration))
	expect(t, err, refitv1alpha1.FailureManualIntervention, "NotRendered")
}

func TestExternalCAIsRenderedAsByUpgrade(t *testing.T) {
	k, to := realKubeadm(t, "v1.36")
	pki := t.TempDir()
	makePKI(t, pki)
	text := strings.ReplaceAll(clusterConfiguration, "/etc/kubernetes/pki", pki)
	own, err := k.Render(t.Context(), input(t, to, text))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(pki, "ca.key")); err != nil {
		t.Fatal(err)
	}
	foreign, err := k.Render(t.Context(), input(t, to, text))
	if err != nil {
		t.Fatal(err)
	}
	for _, component := range Components() {
		want := string(own[component])
		if component == ControllerManager {
			want = strings.ReplaceAll(want, "-file="+pki+"/ca.key", "-file=")
			want = strings.ReplaceAll(want, "--cluster-signing-cert-file="+pki+"/ca.crt", "--cluster-signing-cert-file=")
		}
		if got := string(foreign[component]); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", component, got, want)
		}
	}
}

func TestRootlessControlPlaneIsNotRendered(t *testing.T) {
	path, _ := pretend(t, "exit 1")
	_, err := Kubeadm{Path: path, Dir: t.TempDir()}.Render(t.Context(), input(t, "v1.36.3", clusterConfiguration+"featureGates: {RootlessControlPlane: true}\n"))
	expect(t, err, refitv1alpha1.FailureManualIntervention, "RootlessControlPlane")
}

// The patch of a ClusterRelease is validated and rendered by kubeadm itself, over arguments of the
// owner and in either version of the ClusterConfiguration.
func TestRealKubeadmRendersAPatch(t *testing.T) {
	args := map[string]string{"v1beta3": "{v: '2', goaway-chance: '0.5'}", "v1beta4": "[{name: v, value: '2'}, {name: goaway-chance, value: '0.5'}]"}
	patch := configpatch.Values{
		goawayChance: {"0.1"}, auditAge: {"10"}, apiQPS: {"100"}, syncs: {"10"}, "etcd.local.extraArgs.quota-backend-bytes": {"8589934592"},
		"featureGates.NodeLocalCRISocket": {"true"},
	}
	for _, minor := range versions {
		for version, owned := range args {
			t.Run(minor+" "+version, func(t *testing.T) {
				k, to := realKubeadm(t, minor)
				if facts, _ := kubefacts.For(to); facts != nil {
					if _, reads := facts.Kubeadm.ConfigVersion(version); !reads {
						t.Skipf("kubeadm %s does not read %s", to, version)
					}
				}
				text := "apiVersion: kubeadm.k8s.io/" + version + "\nkind: ClusterConfiguration\nkubernetesVersion: " + to +
					"\ncertificatesDir: /etc/kubernetes/pki\netcd: {local: {dataDir: /var/lib/etcd}}\napiServer: {extraArgs: " + owned + "}\n"
				config, err := Stored{Config: map[string]string{configKey: text}}.Patch(patch)
				must(t, err)
				in := input(t, to, clusterConfiguration)
				in.Config = config.ClusterConfig
				rendered, err := k.Render(t.Context(), in)
				must(t, err)
				for component, flags := range map[string]map[string]string{
					APIServer:         {"goaway-chance": "0.5", "v": "2", "audit-log-maxage": "10"},
					Scheduler:         {"kube-api-qps": "100"},
					ControllerManager: {"concurrent-deployment-syncs": "10"},
					Etcd:              {"quota-backend-bytes": "8589934592"},
				} {
					m, err := Parse(rendered[component])
					must(t, err)
					for name, value := range flags {
						if got := m.Flags[name]; len(got) != 1 || got[0] != value {
							t.Errorf("%s renders --%s as %q, want %q", component, name, got, value)
						}
					}
				}
			})
		}
	}
}
