package kubeadm

import (
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

func TestEveryMinorHasTheSamePhases(t *testing.T) {
	want := map[refitv1alpha1.Role]string{
		refitv1alpha1.RoleFirstControlPlane: "preflight upload-config kubeconfig kubelet-config bootstrap-token addon post-upgrade",
		refitv1alpha1.RoleControlPlane:      "preflight kubeconfig kubelet-config addon post-upgrade",
		refitv1alpha1.RoleWorker:            "preflight kubelet-config post-upgrade",
	}
	for _, minor := range kubefacts.Supported() {
		facts, _ := kubefacts.For(minor)
		for role, phases := range want {
			plan, err := Plan(facts, CommandOf(role), role)
			if err != nil {
				t.Fatalf("%s %s: %v", minor, role, err)
			}
			var names []string
			for _, phase := range plan {
				names = append(names, phase.Name)
			}
			if got := strings.Join(names, " "); got != phases {
				t.Errorf("%s %s: got %s, want %s", minor, role, got, phases)
			}
		}
	}
}

func TestUnknownPhaseIsRefused(t *testing.T) {
	for _, unknown := range []string{"migrate-everything", "addon/ingress", "preflight/deep"} {
		facts, _ := kubefacts.For("1.36")
		changed := *facts
		changed.Kubeadm.UpgradeNode = append([]kubefacts.Phase{{Name: "preflight"}}, kubefacts.Phase{Name: unknown})
		_, err := Plan(&changed, Node, refitv1alpha1.RoleWorker)
		expect(t, err, refitv1alpha1.FailureManualIntervention, "UnknownPhase")
	}
	_, err := Plan(nil, Node, refitv1alpha1.RoleWorker)
	expect(t, err, refitv1alpha1.FailureManualIntervention, "VersionUnknown")
}

func TestRealKubeadmHasOnlyKnownPhases(t *testing.T) {
	for _, minor := range versions {
		t.Run(minor, func(t *testing.T) {
			k := Kubeadm{Path: program(t, "kubeadm", minor), Dir: t.TempDir()}
			version, err := k.Version(t.Context())
			if err != nil || version != versionOf(k.Path) {
				t.Errorf("got version %q, %v", version, err)
			}
			for _, cmd := range []Command{Apply, Node} {
				if err := k.CheckPhases(t.Context(), cmd); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestKubeadmWithAnotherPhaseIsRefused(t *testing.T) {
	for _, help := range []string{
		"Available Commands:\n  preflight     Run\n  surprise      Do\n\nFlags:\n",
		"Available Commands:\n  preflight     Run\n  addon         Do\n  ingress       Do\n\nFlags:\n",
	} {
		path, _ := pretend(t, "cat <<'END'\n"+help+"END")
		expect(t, Kubeadm{Path: path, Dir: t.TempDir()}.CheckPhases(t.Context(), Apply), refitv1alpha1.FailureManualIntervention, "UnknownPhase")
	}
	path, _ := pretend(t, "echo nothing")
	expect(t, Kubeadm{Path: path, Dir: t.TempDir()}.CheckPhases(t.Context(), Apply), refitv1alpha1.FailureManualIntervention, "UnknownPhase")
}

func expect(t *testing.T, err error, class refitv1alpha1.FailureClass, reason string) {
	t.Helper()
	if err == nil {
		t.Fatalf("got no error, want %s %s", class, reason)
	}
	failure := node.FailureOf(err)
	if failure.Class != class || failure.Reason != reason || failure.Remedy == "" {
		t.Errorf("got %s %s (%v, remedy %q), want %s %s", failure.Class, failure.Reason, err, failure.Remedy, class, reason)
	}
}
