package kubeadm

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

func TestCommandLineOfEachPhase(t *testing.T) {
	const all = "addon/coredns addon/kube-proxy"
	for _, c := range []struct {
		name  string
		cmd   Command
		phase string
		skip  string
		want  string // DIR stands for the scratch directory
	}{
		{"checks of the first node", Apply, PhasePreflight, "", "upgrade apply phase preflight --config DIR/upgrade.yaml --kubeconfig ADMIN"},
		{"checks of others take no kubeconfig", Node, PhasePreflight, "", "upgrade node phase preflight --config DIR/upgrade.yaml"},
		{"a phase of two parts", Apply, PhaseUploadConfig, "", "upgrade apply phase upload-config all --config DIR/upgrade.yaml --kubeconfig ADMIN"},
		{"both addons", Node, PhaseAddon, "", "upgrade node phase addon all --config DIR/upgrade.yaml --kubeconfig ADMIN"},
		{"no kube-proxy", Node, PhaseAddon, "addon/kube-proxy", "upgrade node phase addon coredns --config DIR/upgrade.yaml --kubeconfig ADMIN"},
		{"no CoreDNS", Node, PhaseAddon, "addon/coredns", "upgrade node phase addon kube-proxy --config DIR/upgrade.yaml --kubeconfig ADMIN"},
		{"no addons", Node, PhaseAddon, all, ""},
		{"one part", Apply, "addon/coredns", "", "upgrade apply phase addon coredns --config DIR/upgrade.yaml --kubeconfig ADMIN"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, calls := pretend(t, "")
			k := Kubeadm{Path: path, Admin: "ADMIN", Dir: t.TempDir()}
			write(t, calls, "")
			if _, err := k.RunPhase(t.Context(), c.cmd, c.phase, "v1.36.3", strings.Fields(c.skip)); err != nil {
				t.Fatal(err)
			}
			got := strings.TrimSpace(strings.ReplaceAll(read(t, calls), filepath.Join(k.Dir, "phase"), "DIR"))
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestHiddenPhaseRunsWithAllOthersSkipped(t *testing.T) {
	withFiles(t, PhaseKubeconfig)
	for cmd, want := range map[Command]string{
		Apply: "upgrade apply --skip-phases=preflight,control-plane,upload-config,kubelet-config,bootstrap-token,addon,post-upgrade",
		Node:  "upgrade node --skip-phases=preflight,control-plane,kubelet-config,addon,post-upgrade",
	} {
		path, calls := pretend(t, "")
		k := Kubeadm{Path: path, Admin: "ADMIN", Dir: t.TempDir()}
		if _, err := k.RunPhase(t.Context(), cmd, PhaseKubeconfig, "v1.36.3", nil); err != nil {
			t.Fatal(err)
		}
		if got := read(t, calls); !strings.HasPrefix(got, want+" --config ") {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestKubeadmNeverSwapsTheManifests(t *testing.T) {
	path, calls := pretend(t, "")
	write(t, calls, "")
	k := Kubeadm{Path: path, Dir: t.TempDir()}
	_, err := k.RunPhase(t.Context(), Apply, PhaseControlPlane, "v1.36.3", nil)
	expect(t, err, refitv1alpha1.FailureManualIntervention, "ForbiddenPhase")
	_, err = k.RunPhase(t.Context(), Apply, "surprise", "v1.36.3", nil)
	expect(t, err, refitv1alpha1.FailureManualIntervention, "UnknownPhase")
	_, err = k.RunPhase(t.Context(), Apply, PhaseAddon, "v1.99.0", nil)
	expect(t, err, refitv1alpha1.FailureManualIntervention, "VersionUnknown")
	if got := read(t, calls); got != "" {
		t.Errorf("kubeadm was run: %s", got)
	}
}

func TestUpgradeConfigurationOfEachPhase(t *testing.T) {
	k := Kubeadm{Patches: "/etc/patches", IgnorePreflight: []string{"Swap"}}
	type options struct {
		KubernetesVersion     string
		CertificateRenewal    *bool
		EtcdUpgrade           *bool
		ImagePullPolicy       string
		DryRun                bool
		AllowRCUpgrades       bool
		IgnorePreflightErrors []string
		Patches               struct{ Directory string }
	}
	for phase, dry := range map[string]bool{PhasePreflight: true, PhaseKubeletConfig: false} {
		text, err := k.upgradeConfiguration(phase, "v1.37.0-rc.1")
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Apply, Node options }
		if err := yaml.UnmarshalStrict([]byte(strings.ReplaceAll(string(text), "apiVersion: kubeadm.k8s.io/v1beta4\n", "")), &struct {
			Kind  string
			Apply *map[string]any
			Node  *map[string]any
		}{}); err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		for _, o := range []options{got.Apply, got.Node} {
			if *o.CertificateRenewal || *o.EtcdUpgrade || o.ImagePullPolicy != "Never" || o.DryRun != dry || o.Patches.Directory != "/etc/patches" ||
				len(o.IgnorePreflightErrors) != 1 {
				t.Errorf("%s: got %+v", phase, o)
			}
		}
		if got.Apply.KubernetesVersion != "v1.37.0-rc.1" || !got.Apply.AllowRCUpgrades {
			t.Errorf("%s: got %+v", phase, got.Apply)
		}
	}
}

func TestObjectsOfADryRunAreNotReported(t *testing.T) {
	path, _ := pretend(t, `cat <<'END'
[dryrun] Creating a real client
kind: PodList
      env:
      - name: PASSWORD
        value: hunter2
[upgrade/preflight] Running preflight checks
	[ERROR ControlPlaneNodesReady]: there are NotReady control-planes in the cluster: [a]
error: preflight checks failed
END
exit 1`)
	said, err := Kubeadm{Path: path, Dir: t.TempDir()}.RunPhase(t.Context(), Apply, PhasePreflight, "v1.36.3", nil)
	expect(t, err, refitv1alpha1.FailureManualIntervention, "PreflightRefused")
	failure := node.FailureOf(err)
	for _, text := range []string{said, failure.LogTail, err.Error()} {
		if strings.Contains(text, "hunter2") {
			t.Errorf("an object was reported: %s", text)
		}
	}
	if !strings.Contains(failure.Remedy, "ControlPlaneNodesReady") {
		t.Errorf("the remedy does not name the check: %s", failure.Remedy)
	}
}

func TestSecretsAreNotReported(t *testing.T) {
	path, _ := pretend(t, `cat <<'END'
token: abcdef.0123456789abcdef
Authorization: Bearer verysecret
-----BEGIN RSA PRIVATE KEY-----
MIIEsecret
-----END RSA PRIVATE KEY-----
client-key-data: LS0tsecret
END
exit 1`)
	said, err := Kubeadm{Path: path, Dir: t.TempDir()}.RunPhase(t.Context(), Apply, PhaseBootstrapToken, "v1.36.3", nil)
	expect(t, err, refitv1alpha1.FailureManualIntervention, "KubeadmFailed")
	failure := node.FailureOf(err)
	for _, secret := range []string{"0123456789abcdef", "secret"} {
		if strings.Contains(said+failure.LogTail+err.Error(), secret) {
			t.Errorf("%s was reported: %s", secret, said)
		}
	}
}

func TestHangingKubeadmIsKilledWithItsContext(t *testing.T) {
	path, _ := pretend(t, "sleep 60 & wait")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := Kubeadm{Path: path, Dir: t.TempDir()}.RunPhase(ctx, Apply, PhaseAddon, "v1.36.3", nil)
	expect(t, err, refitv1alpha1.FailureTransient, "KubeadmInterrupted")
	if took := time.Since(began); took > afterKill {
		t.Errorf("it took %s: its child was not killed", took)
	}
}

func TestKubeadmThatDoesNotRun(t *testing.T) {
	_, err := Kubeadm{Path: "/nowhere/kubeadm", Dir: t.TempDir()}.RunPhase(t.Context(), Apply, PhaseAddon, "v1.36.3", nil)
	expect(t, err, refitv1alpha1.FailureHostBroken, "KubeadmBroken")
}

// withFiles replaces the files of a phase by those of the test.
func withFiles(t *testing.T, phase string) []string {
	t.Helper()
	was, dir := phaseFiles[phase], t.TempDir()
	var files []string
	for _, path := range was {
		files = append(files, filepath.Join(dir, filepath.Base(path)))
	}
	phaseFiles[phase] = files
	t.Cleanup(func() { phaseFiles[phase] = was })
	return files
}
