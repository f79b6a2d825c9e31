package kubeadm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// KubeletFinding is a problem of the target's kubelet with its flags or its configuration.
type KubeletFinding struct {
	*node.Failure
	// Fatal is set if the kubelet would not start. Otherwise it would ignore a setting.
	Fatal bool
}

const kubeletRemedy = "Check its flags (`systemctl cat kubelet`, /var/lib/kubelet/kubeadm-flags.env, /etc/default/kubelet) and /var/lib/kubelet/config.yaml"

// CheckKubelet returns why a kubelet would not start with these arguments and this configuration.
// The binary itself parses the flags and exits; feature gates and fields, which it would only check
// later, are checked with kubefacts.
func CheckKubelet(ctx context.Context, binary string, args []string, config []byte, to *kubefacts.Facts) []KubeletFinding {
	found := parseKubeletFlags(ctx, binary, args)
	var document map[string]any
	if err := yaml.Unmarshal(config, &document); err != nil {
		return append(found, fatal("KubeletConfigBroken", err, "cannot parse the configuration of the kubelet"))
	}
	if to == nil {
		return found
	}
	gates, err := kubeletGates(args, document)
	if err != nil {
		found = append(found, fatal("KubeletGateBroken", err, "cannot parse the feature gates of the kubelet"))
	}
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		if name == "AllAlpha" || name == "AllBeta" {
			continue
		}
		switch to.SetGate(kubefacts.Kubelet, name, gates[name]) {
		case kubefacts.GateUnknown:
			found = append(found, fatal("KubeletGateUnknown", nil, "the kubelet of %s does not have the feature gate %s", to.Version, name))
		case kubefacts.GateLocked:
			found = append(found, fatal("KubeletGateLocked", nil, "the kubelet of %s does not accept %s=%t: the feature gate is locked",
				to.Version, name, gates[name]))
		case kubefacts.GateAccepted:
		}
	}
	for _, broken := range to.BrokenGates(kubefacts.Kubelet, gates) {
		found = append(found, fatal("KubeletGateBroken", nil, "the feature gate %s of the kubelet of %s requires %s, which is disabled",
			broken.Gate.Name, to.Version, strings.Join(broken.Disabled, ", ")))
	}
	for _, field := range to.KubeletConfig.Unknown(document) {
		finding := fatal("KubeletFieldUnknown", nil, "the kubelet of %s ignores the field %s of its configuration", to.Version, field)
		finding.Fatal = false
		found = append(found, finding)
	}
	return found
}

func fatal(reason string, err error, format string, args ...any) KubeletFinding {
	return KubeletFinding{Failure: node.ManualIntervention(reason, err, kubeletRemedy+thenRetry, format, args...), Fatal: true}
}

// complaint matches the error of the kubelet about its flags. The prefix of the log line varies.
var complaint = regexp.MustCompile(`(?m)(?:unknown (?:shorthand )?flag|unknown command|invalid argument|flag needs an argument|bad flag syntax` +
	`|failed to parse kubelet flag).*$`)

// parseKubeletFlags runs the kubelet with its arguments and --version: it parses all flags, prints
// its version and exits.
func parseKubeletFlags(ctx context.Context, binary string, args []string) []KubeletFinding {
	out, err := runBinary(ctx, nil, binary, append(slices.Clone(args), "--version")...)
	if err == nil {
		return nil
	}
	var exit *exec.ExitError
	var finding KubeletFinding
	switch {
	case ctx.Err() != nil || !errors.As(err, &exit):
		finding = KubeletFinding{Failure: node.HostBroken("KubeletBroken", err, "Check why "+binary+" does not run on this host"+thenRetry,
			"cannot run the new kubelet"), Fatal: true}
	case complaint.MatchString(out.Combined):
		finding = fatal("KubeletFlagRefused", nil, "the new kubelet refuses its flags: %s", refitv1alpha1.Clip(complaint.FindString(out.Combined), 160))
	default:
		finding = fatal("KubeletFlagRefused", err, "the new kubelet does not start with its flags")
	}
	finding.LogTail = refitv1alpha1.ClipFront(out.Combined, refitv1alpha1.MaxLogTail)
	return []KubeletFinding{finding}
}

// kubeletGates returns the feature gates that are set. Flags override the configuration, gate by
// gate.
func kubeletGates(args []string, document map[string]any) (map[string]bool, error) {
	gates := map[string]bool{}
	given, _ := document["featureGates"].(map[string]any)
	for name, value := range given {
		on, ok := value.(bool)
		if !ok {
			return gates, fmt.Errorf("the value of %s is neither true nor false", name)
		}
		gates[name] = on
	}
	for i, arg := range args {
		value, joined := strings.CutPrefix(arg, "--feature-gates=")
		if arg == "--feature-gates" && i+1 < len(args) {
			value, joined = args[i+1], true
		}
		if !joined {
			continue
		}
		for gate := range strings.SplitSeq(value, ",") {
			name, text, _ := strings.Cut(strings.TrimSpace(gate), "=")
			if name == "" {
				continue
			}
			on, err := strconv.ParseBool(strings.TrimSpace(text))
			if err != nil {
				return gates, fmt.Errorf("the value of %s is neither true nor false", name)
			}
			gates[strings.TrimSpace(name)] = on
		}
	}
	return gates, nil
}

// writtenByKubeadm are flags that kubeadm wrote into kubeadm-flags.env and that later kubelets
// refuse. Only kubeadm v1.35 removes the first one, so a worker that skips v1.35 would keep it.
// Flags of the user are never removed silently.
var writtenByKubeadm = []string{"pod-infra-container-image", "container-runtime", "network-plugin"}

// StripRemovedFlags removes flags of kubeadm that the target's kubelet refuses from
// kubeadm-flags.env, and returns their names.
func StripRemovedFlags(env []byte, to *kubefacts.Facts) ([]byte, []string) {
	text := string(env)
	found := parseEnvironment(text)
	at := slices.IndexFunc(found, func(a assignment) bool { return a.name == "KUBELET_KUBEADM_ARGS" })
	if at < 0 || to == nil {
		return env, nil
	}
	var kept, removed []string
	words := strings.Fields(found[at].value)
	for i := 0; i < len(words); i++ {
		name, _, joined := strings.Cut(strings.TrimLeft(words[i], "-"), "=")
		if !strings.HasPrefix(words[i], "--") || !slices.Contains(writtenByKubeadm, name) || to.HasFlag(kubefacts.Kubelet, name) {
			kept = append(kept, words[i])
			continue
		}
		removed = append(removed, name)
		if !joined && i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") {
			i++
		}
	}
	if len(removed) == 0 {
		return env, nil
	}
	return []byte(text[:found[at].from] + strconv.Quote(strings.Join(kept, " ")) + text[found[at].to:]), removed
}
