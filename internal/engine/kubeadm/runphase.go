package kubeadm

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// RunPhase runs one phase and returns the end of what it said. skip names parts that are left out, as Addons.Skip does. Every phase can be run
// again.
//
// The phases take different flags, but all of them take an UpgradeConfiguration, so everything goes in there. kubeadm's images are not pulled: the
// agent has proven that they are present.
func (k Kubeadm) RunPhase(ctx context.Context, cmd Command, phase, to string, skip []string) (string, error) {
	known, ok := phaseOf(phase)
	switch {
	case !ok:
		return "", unknownPhase(to, cmd, phase)
	case known.Name == PhaseControlPlane:
		return "", node.ManualIntervention("ForbiddenPhase", nil, "report this as a fault of Refit", "kubeadm's phase control-plane is never run")
	}
	runs := [][]string{{known.Name}}
	if len(known.below) > 0 {
		runs = nil
		for _, part := range known.below {
			if name := known.Name + "/" + part; (phase == known.Name || phase == name) && !slices.Contains(skip, name) {
				runs = append(runs, []string{known.Name, part})
			}
		}
		if len(runs) == len(known.below) {
			runs = [][]string{{known.Name, "all"}}
		}
	}
	facts, ok := kubefacts.For(to)
	if !ok {
		return "", unknownVersion()
	}
	var said strings.Builder
	for _, names := range runs {
		out, err := k.runOne(ctx, facts, cmd, names, to)
		if known.Name == PhasePreflight {
			out.Combined = ownWords(out.Combined)
		}
		said.WriteString(out.Combined)
		if err != nil {
			return said.String(), k.failed(ctx, "upgrade "+string(cmd)+" phase "+strings.Join(names, " "), out, err)
		}
	}
	return said.String(), nil
}

func (k Kubeadm) runOne(ctx context.Context, facts *kubefacts.Facts, cmd Command, names []string, to string) (output, error) {
	dir, err := k.scratch("phase")
	if err != nil {
		return output{}, err
	}
	text, err := k.upgradeConfiguration(names[0], to)
	if err != nil {
		return output{}, err
	}
	file := filepath.Join(dir, "upgrade.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return output{}, err
	}
	args := append([]string{"upgrade", string(cmd), "phase"}, names...)
	if only := allBut(facts, cmd, names[0]); only != nil {
		args = []string{"upgrade", string(cmd), "--skip-phases=" + strings.Join(only, ",")}
	}
	args = append(args, "--config", file)
	// This one phase takes no kubeconfig. It finds the same ones by itself.
	if k.Admin != "" && (cmd != Node || names[0] != PhasePreflight) {
		args = append(args, "--kubeconfig", k.Admin)
	}
	var out output
	err = guard(filepath.Join(k.Dir, "guard-"+names[0]), phaseFiles[names[0]], func() error {
		out, err = k.run(ctx, []string{"KUBEADM_UPGRADE_DRYRUN_DIR=" + dir}, args...)
		return err
	})
	return out, err
}

// allBut lists all other phases of a command where a phase is hidden, and nil where it is not. A hidden phase has no command of its own: it can only
// be run by skipping every other one.
func allBut(facts *kubefacts.Facts, cmd Command, name string) []string {
	listed := listedIn(facts, cmd)
	at := slices.IndexFunc(listed, func(p kubefacts.Phase) bool { return p.Name == name })
	if at < 0 || !listed[at].Hidden {
		return nil
	}
	var others []string
	for _, phase := range listed {
		if phase.Name != name && !strings.Contains(phase.Name, "/") {
			others = append(others, phase.Name)
		}
	}
	return others
}

func (k Kubeadm) upgradeConfiguration(phase, to string) ([]byte, error) {
	options := map[string]any{
		"certificateRenewal": false,
		"etcdUpgrade":        false,
		"imagePullPolicy":    "Never",
	}
	if k.Patches != "" {
		options["patches"] = map[string]any{"directory": k.Patches}
	}
	if len(k.IgnorePreflight) > 0 {
		options["ignorePreflightErrors"] = k.IgnorePreflight
	}
	// A dry run of the checks makes all of them but three: a Job that runs in the cluster, which takes seconds and shows nothing about this node;
	// whether manifests are on disk; and the images. Refit looks at the nodes, the manifests and the images itself.
	if phase == PhasePreflight {
		options["dryRun"] = true
	}
	apply := map[string]any{"kubernetesVersion": to}
	if strings.Contains(to, "-") { // alpha, beta, rc: the owner signed a release of it
		apply["allowExperimentalUpgrades"], apply["allowRCUpgrades"] = true, true
	}
	maps.Copy(apply, options)
	return yaml.Marshal(map[string]any{
		"apiVersion": "kubeadm.k8s.io/v1beta4",
		"kind":       "UpgradeConfiguration",
		"apply":      apply,
		"node":       options,
	})
}
