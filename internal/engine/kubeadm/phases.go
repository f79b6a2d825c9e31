package kubeadm

import (
	"context"
	"regexp"
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Command is a command of kubeadm that has phases.
type Command string

// The commands.
const (
	Apply Command = "apply" // kubeadm upgrade apply: the first control plane node of a hop
	Node  Command = "node"  // kubeadm upgrade node: all others
)

// CommandOf returns the command of a role.
func CommandOf(role refitv1alpha1.Role) Command {
	if role == refitv1alpha1.RoleFirstControlPlane {
		return Apply
	}
	return Node
}

// The phases of both commands.
const (
	PhasePreflight      = "preflight"
	PhaseControlPlane   = "control-plane" // never run: Refit swaps the manifests
	PhaseUploadConfig   = "upload-config"
	PhaseKubeconfig     = "kubeconfig"
	PhaseKubeletConfig  = "kubelet-config"
	PhaseBootstrapToken = "bootstrap-token"
	PhaseAddon          = "addon"
	PhasePostUpgrade    = "post-upgrade"
)

// Phase is one phase of a command.
type Phase struct {
	Name string
	// ClusterWide is set if it changes objects of the cluster.
	ClusterWide bool
	// ControlPlane is set if it does nothing on a worker.
	ControlPlane bool
	// Before is set if it runs before the manifests are swapped.
	Before bool
	// below are its sub-phases.
	below []string
}

// phases are the known phases of kubeadm v1.34 to v1.37. Another one may do anything.
var phases = []Phase{
	// Runs the preflight checks of kubeadm.
	{Name: PhasePreflight, Before: true},
	// Swaps the static pod manifests.
	{Name: PhaseControlPlane, ControlPlane: true},
	// Writes the new version and the configuration of kubelets to ConfigMaps.
	{Name: PhaseUploadConfig, ClusterWide: true, ControlPlane: true, below: []string{"kubeadm", "kubelet"}},
	// Configures the kubelet to use the API server of this node, and restarts it if that changed.
	{Name: PhaseKubeconfig, ControlPlane: true},
	// Writes the configuration of the kubelet from the ConfigMap and the patches on the host.
	{Name: PhaseKubeletConfig},
	// Writes the RBAC roles for joining nodes.
	{Name: PhaseBootstrapToken, ClusterWide: true, ControlPlane: true},
	// Upgrades CoreDNS and kube-proxy when every API server is upgraded.
	{Name: PhaseAddon, ClusterWide: true, ControlPlane: true, below: []string{"coredns", "kube-proxy"}},
	// Removes obsolete flags from the environment file of the kubelet.
	{Name: PhasePostUpgrade},
}

// Plan returns the phases that a host runs, in the order of kubeadm, without control-plane. It
// fails if there is an unknown phase, before anything is changed: its effects are unknown.
func Plan(facts *kubefacts.Facts, cmd Command, role refitv1alpha1.Role) ([]Phase, error) {
	if facts == nil {
		return nil, unknownVersion()
	}
	var plan []Phase
	for _, l := range listedIn(facts, cmd) {
		phase, known := phaseOf(l.Name)
		switch {
		case !known:
			return nil, unknownPhase(facts.Version, cmd, l.Name)
		case l.Name != phase.Name, phase.Name == PhaseControlPlane: // a sub-phase of a listed phase
		case phase.ControlPlane && role == refitv1alpha1.RoleWorker:
		default:
			plan = append(plan, phase)
		}
	}
	return plan, nil
}

// phaseOf returns the phase of a name such as addon or addon/coredns.
func phaseOf(name string) (Phase, bool) {
	top, part, nested := strings.Cut(name, "/")
	at := slices.IndexFunc(phases, func(p Phase) bool { return p.Name == top })
	if at < 0 || nested && !slices.Contains(phases[at].below, part) {
		return Phase{}, false
	}
	return phases[at], true
}

// listedPhase matches a line of `kubeadm upgrade apply phase --help`, and of `… phase addon
// --help`.
var listedPhase = regexp.MustCompile(`(?m)^  ([a-z0-9-]+) +\S`)

// CheckPhases checks the phases that the binary lists, since a later patch release than that of
// kubefacts may have another one. It does not list hidden phases; those are in kubefacts.
func (k Kubeadm) CheckPhases(ctx context.Context, cmd Command) error {
	tops, err := k.listPhases(ctx, cmd, "")
	if err != nil {
		return err
	}
	for _, top := range tops {
		phase, known := phaseOf(top)
		if !known {
			return unknownPhase(k.Path, cmd, top)
		}
		if len(phase.below) == 0 {
			continue
		}
		parts, err := k.listPhases(ctx, cmd, top)
		if err != nil {
			return err
		}
		for _, part := range parts {
			if part != "all" && !slices.Contains(phase.below, part) {
				return unknownPhase(k.Path, cmd, top+"/"+part)
			}
		}
	}
	return nil
}

func (k Kubeadm) listPhases(ctx context.Context, cmd Command, top string) ([]string, error) {
	args := []string{"upgrade", string(cmd), "phase"}
	if top != "" {
		args = append(args, top)
	}
	out, err := k.run(ctx, nil, append(args, "--help")...)
	if err != nil {
		return nil, k.failed(ctx, "upgrade "+string(cmd)+" phase --help", out, err)
	}
	_, list, _ := strings.Cut(out.Stdout, "Available Commands:")
	list, _, _ = strings.Cut(list, "\nFlags:")
	var names []string
	for _, match := range listedPhase.FindAllStringSubmatch(list, -1) {
		names = append(names, match[1])
	}
	if len(names) == 0 {
		return nil, node.ManualIntervention("UnknownPhase", nil, "Check that "+k.Path+" is kubeadm", "kubeadm does not list its phases")
	}
	return names, nil
}

// listedIn returns the phases of a command in kubefacts.
func listedIn(facts *kubefacts.Facts, cmd Command) []kubefacts.Phase {
	if cmd == Apply {
		return facts.Kubeadm.UpgradeApply
	}
	return facts.Kubeadm.UpgradeNode
}

func unknownVersion() error {
	return node.ManualIntervention("VersionUnknown", nil, "Upgrade Refit to a version that supports this minor version of Kubernetes; nothing was changed",
		"this agent does not support the kubeadm of the target")
}

func unknownPhase(version string, cmd Command, phase string) error {
	return node.ManualIntervention("UnknownPhase", nil, "Upgrade Refit to a version that supports this phase; nothing was changed",
		"kubeadm upgrade %s of %s has the phase %s, which this agent does not support", cmd, version, phase)
}
