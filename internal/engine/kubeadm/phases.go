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

// CommandOf is the command that a role runs.
func CommandOf(role refitv1alpha1.Role) Command {
	if role == refitv1alpha1.RoleFirstControlPlane {
		return Apply
	}
	return Node
}

// The phases of both commands.
const (
	PhasePreflight      = "preflight"
	PhaseControlPlane   = "control-plane" // never run: the swap is Refit's
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
	What string // what it does, for a person
	// ClusterWide says that it changes objects of the cluster, not only this host.
	ClusterWide bool
	// ControlPlane says that it does nothing on a worker.
	ControlPlane bool
	// Before says that it comes before the control plane's swap.
	Before bool
	// below are the phases that it consists of.
	below []string
}

// phases are those that this code knows, and has read in kubeadm v1.34 to v1.37. One that is not here may do anything.
var phases = []Phase{
	{Name: PhasePreflight, What: "kubeadm's own checks", Before: true},
	{Name: PhaseControlPlane, What: "swaps the static pod manifests", ControlPlane: true},
	{
		Name: PhaseUploadConfig, What: "writes the new version and the kubelets' configuration to ConfigMaps", ClusterWide: true, ControlPlane: true,
		below: []string{"kubeadm", "kubelet"},
	},
	{Name: PhaseKubeconfig, What: "points this node's kubelet at its own API server, and restarts it if that is new", ControlPlane: true},
	{Name: PhaseKubeletConfig, What: "writes the kubelet's configuration from the cluster's ConfigMap and the host's patches"},
	{Name: PhaseBootstrapToken, What: "writes the roles by which nodes join", ClusterWide: true, ControlPlane: true},
	{
		Name: PhaseAddon, What: "upgrades CoreDNS and kube-proxy once every API server is new", ClusterWide: true, ControlPlane: true,
		below: []string{"coredns", "kube-proxy"},
	},
	{Name: PhasePostUpgrade, What: "takes flags that are gone out of the kubelet's environment file"},
}

// Plan lists the phases that a host runs, all but control-plane, in kubeadm's order. A phase that this code does not know is refused, before
// anything is changed: nobody has thought about what it does.
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
		case l.Name != phase.Name, phase.Name == PhaseControlPlane: // a part of one that is there already
		case phase.ControlPlane && role == refitv1alpha1.RoleWorker:
		default:
			plan = append(plan, phase)
		}
	}
	return plan, nil
}

// phaseOf finds the phase of a name such as addon or addon/coredns.
func phaseOf(name string) (Phase, bool) {
	top, part, nested := strings.Cut(name, "/")
	at := slices.IndexFunc(phases, func(p Phase) bool { return p.Name == top })
	if at < 0 || nested && !slices.Contains(phases[at].below, part) {
		return Phase{}, false
	}
	return phases[at], true
}

// listedPhase is a line of `kubeadm upgrade apply phase --help`, and of `… phase addon --help`.
var listedPhase = regexp.MustCompile(`(?m)^  ([a-z0-9-]+) +\S`)

// CheckPhases asks the program itself for its phases, since a later patch release than the one that kube-facts knows could have one more. Hidden
// phases are not told; of those kube-facts knows.
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
		return nil, node.ManualIntervention("UnknownPhase", nil, "see that "+k.Path+" is a kubeadm", "kubeadm does not tell its phases")
	}
	return names, nil
}

// listedIn are the phases of a command by kube-facts.
func listedIn(facts *kubefacts.Facts, cmd Command) []kubefacts.Phase {
	if cmd == Apply {
		return facts.Kubeadm.UpgradeApply
	}
	return facts.Kubeadm.UpgradeNode
}

func unknownVersion() error {
	return node.ManualIntervention("VersionUnknown", nil, "upgrade Refit to a version that knows this minor of Kubernetes; nothing has been changed",
		"the target's kubeadm is not known to this agent")
}

func unknownPhase(version string, cmd Command, phase string) error {
	return node.ManualIntervention("UnknownPhase", nil, "upgrade Refit to a version that knows this phase; nothing has been changed",
		"kubeadm upgrade %s of %s has a phase %s, which this agent does not know", cmd, version, phase)
}
