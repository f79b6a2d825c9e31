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

// RunPhase runs one phase and returns the end of its output. skip lists sub-phases to skip, such as
// those of Addons.Skip. Every phase is idempotent.
//
// The phases have different flags, but all of them accept an UpgradeConfiguration, so all options
// are in it. Images are not pulled: the agent has checked that they are present.
func (k Kubeadm) RunPhase(ctx context.Context, cmd Command, phase, to string, skip []string) (string, error) {
	known, ok := phaseOf(phase)
	switch {
	case !ok:
		return "", unknownPhase(to, cmd, phase)
	case known.Name == PhaseControlPlane:
		return "", node.ManualIntervention("ForbiddenPhase", nil, reportFault, "the phase control-plane of kubeadm must not run")
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
	var log strings.Builder
	for _, names := range runs {
		out, err := k.runOne(ctx, facts, cmd, names, to)
		if known.Name == PhasePreflight {
			out.Combined = withoutObjects(out.Combined)
		}
		log.WriteString(out.Combined)
		if err != nil {
			return log.String(), k.failed(ctx, "upgrade "+string(cmd)+" phase "+strings.Join(names, " "), out, err)
		}
	}
	return log.String(), nil
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
	// This phase has no flag for the kubeconfig. It uses the same one by default.
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

// allBut returns all other phases of a command if a phase is hidden, else nil. A hidden phase has
// no command: it runs only if all other phases are skipped.
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
	// A dry run of the checks omits three: a Job in the cluster, which takes seconds and does not
	// depend on this node; the manifests on disk; and the images. Refit checks nodes, manifests and
	// images itself.
	if phase == PhasePreflight {
		options["dryRun"] = true
	}
	apply := map[string]any{"kubernetesVersion": to}
	if strings.Contains(to, "-") { // a pre-release, which is allowed by its signed ClusterRelease
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
