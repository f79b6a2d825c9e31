//go:build apiserver

package api

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/refit-dev/refit/test/apiserver"
)

const examples = "../../../examples"

func TestTheAPIServerAcceptsTheExamples(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(examples, "*.yaml"))
	must(t, err)
	if len(files) == 0 {
		t.Fatalf("%s has no manifests", examples)
	}
	arguments := [][]string{{"-k", filepath.Join(examples, "gitops")}}
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		if strings.Contains(string(text), "\nkind: ClusterUpgrade\n") || strings.Contains(string(text), "\nkind: UpgradeSchedule\n") ||
			strings.Contains(string(text), "\nkind: MaintenanceWindow\n") { // the others are for Flux and Argo CD
			arguments = append(arguments, []string{"-f", file})
		}
	}
	if len(arguments) < 4 {
		t.Fatalf("%s has %d ClusterUpgrades", examples, len(arguments))
	}
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		s := serverOf(t, version)
		kubeconfig := s.Kubeconfig(t, s.RESTConfig())
		for _, source := range arguments {
			apply := append([]string{"--kubeconfig", kubeconfig, "apply", "--server-side", "--dry-run=server"}, source...)
			out, err := exec.CommandContext(t.Context(), s.Kubectl(), apply...).CombinedOutput()
			accepted := strings.HasPrefix(string(out), "clusterupgrade.refit.dev/to-v1-36-3") || strings.HasPrefix(string(out), "upgradeschedule.refit.dev/weekly") ||
				strings.HasPrefix(string(out), "maintenancewindow.refit.dev/weekend")
			if err != nil || !accepted {
				t.Errorf("kubectl apply %s: %v\n%s", strings.Join(source, " "), err, out)
			}
		}
	})
}
