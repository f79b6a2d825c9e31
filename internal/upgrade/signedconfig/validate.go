// Package signedconfig reads what ClusterReleases set in kubeadm's ClusterConfiguration, and
// refuses what they must not set: fields that differ between clusters or hosts, files, secrets, and
// fields that a version lacks.
package signedconfig

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/configpatch"
	"github.com/refit-dev/refit/internal/upgrade/drift"
	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
)

// The limits of a patch, which fit plans and NodeReports.
const (
	maxFields = 64
	maxValues = 8
	maxValue  = 512
)

var (
	argumentPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)
	gatePattern     = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,62}$`)
	valuePattern    = regexp.MustCompile(`^[[:graph:]]([[:print:]]*[[:graph:]])?$`)
)

// refused are arguments that belong to the cluster or its hosts, or on which Refit relies. A value
// of a ClusterRelease, which many clusters share, would break them.
var refused = map[configpatch.Section][]string{
	configpatch.APIServerArgs: {
		"advertise-address", "bind-address", "secure-port", "etcd-servers", "etcd-prefix", "service-cluster-ip-range", "service-account-issuer",
		"api-audiences", "authorization-mode", "anonymous-auth", "storage-backend", "allow-privileged",
	},
	configpatch.ControllerManagerArgs: {
		"bind-address", "secure-port", "cluster-cidr", "cluster-name", "service-cluster-ip-range", "allocate-node-cidrs", "node-cidr-mask-size",
		"node-cidr-mask-size-ipv4", "node-cidr-mask-size-ipv6", "leader-elect", "use-service-account-credentials", "master",
	},
	configpatch.SchedulerArgs: {"bind-address", "secure-port", "leader-elect", "master"},
	configpatch.EtcdArgs: {
		"name", "force-new-cluster", "client-cert-auth", "peer-client-cert-auth", "auto-tls", "peer-auto-tls", "discovery", "strict-reconfig-check",
	},
	// kubeadm renders the manifests without the settings of this gate in a dry run.
	configpatch.FeatureGates: {"RootlessControlPlane"},
}

// refusedPrefixes are those of arguments of the same kind.
var refusedPrefixes = map[configpatch.Section][]string{
	configpatch.APIServerArgs:         {"emulated-version", "emulation-forward-compatible", "min-compatibility-version", "runtime-config-emulation"},
	configpatch.ControllerManagerArgs: {"emulated-version", "min-compatibility-version"},
	configpatch.SchedulerArgs:         {"emulated-version", "min-compatibility-version"},
	configpatch.EtcdArgs:              {"initial-", "listen-", "advertise-", "discovery-"},
}

// fileSuffixes are those of arguments that name a file of the host.
var fileSuffixes = []string{"-file", "-files", "-dir", "-path", "kubeconfig", "-config", "-socket"}

// secretWords are parts of the names of arguments whose values are secrets.
var secretWords = []string{"password", "passphrase", "secret"}

// Validate refuses a patch that a ClusterRelease must not have: everybody can read it, and its
// values become arguments of processes on many hosts.
func Validate(patch *refitv1alpha1.ClusterConfigurationPatch) error {
	if patch == nil {
		return nil
	}
	values := Of(patch)
	if len(values) == 0 {
		return errors.New("it sets nothing")
	}
	if len(values) > maxFields {
		return fmt.Errorf("%d fields are more than %d", len(values), maxFields)
	}
	for _, field := range values.Fields() {
		s, name := field.Split()
		if err := validateField(s, name, values[field]); err != nil {
			return fmt.Errorf("%s: %w", refitv1alpha1.Clip(fmt.Sprintf("%s.%q", s, name), 80), err)
		}
	}
	return nil
}

func validateField(s configpatch.Section, name string, values []string) error {
	pattern := argumentPattern
	if s == configpatch.FeatureGates {
		pattern = gatePattern
	}
	switch {
	case !pattern.MatchString(name):
		return errors.New("this is not a name")
	case slices.Contains(refused[s], name) || slices.ContainsFunc(refusedPrefixes[s], func(p string) bool { return strings.HasPrefix(name, p) }):
		return errors.New("this differs between clusters or hosts, or Refit relies on it: a ClusterRelease cannot set it")
	case s != configpatch.FeatureGates && slices.ContainsFunc(fileSuffixes, func(suffix string) bool { return strings.HasSuffix(name, suffix) }):
		return errors.New("this names a file of the host: a ClusterRelease cannot set it")
	case len(values) > maxValues:
		return fmt.Errorf("%d values are more than %d", len(values), maxValues)
	}
	for _, value := range values {
		if err := validateValue(name, value); err != nil {
			return err
		}
	}
	return nil
}

// validateValue does not repeat the value in its errors.
func validateValue(name, value string) error {
	hasSecretName := slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(name, word) })
	switch {
	case len(value) > maxValue || !valuePattern.MatchString(value):
		return fmt.Errorf("the value is not one line of 1 to %d printable characters", maxValue)
	case drift.IsSecret(value), strings.Contains(value, "-----BEGIN"), hasSecretName && value != "true" && value != "false":
		return errors.New("the value contains a secret, and everybody can read a ClusterRelease")
	case slices.ContainsFunc(strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(",=;", r) }), isPath):
		return errors.New("the value is a path of the host, which may not exist there")
	}
	return nil
}

func isPath(text string) bool {
	return strings.HasPrefix(text, "/") || strings.HasPrefix(text, "unix:") || strings.HasPrefix(text, "file:")
}

// components are the components whose flags are known, by section.
var components = map[configpatch.Section]string{
	configpatch.APIServerArgs: kubefacts.KubeAPIServer, configpatch.ControllerManagerArgs: kubefacts.KubeControllerManager,
	configpatch.SchedulerArgs: kubefacts.KubeScheduler,
}

// Unsupported returns the fields that a version of Kubernetes does not have, with the reason. The
// flags of etcd are not known, nor is a version without facts.
func Unsupported(values configpatch.Values, version string) []string {
	facts, known := kubefacts.For(version)
	if !known {
		return nil
	}
	var out []string
	for _, field := range values.Fields() {
		s, name := field.Split()
		component, hasFlags := components[s]
		_, isGate := facts.Kubeadm.Gate(name)
		switch {
		case hasFlags && !facts.HasFlag(component, name):
			out = append(out, fmt.Sprintf("%s %s has no flag --%s", component, version, name))
		case s == configpatch.FeatureGates && !isGate:
			out = append(out, fmt.Sprintf("kubeadm %s has no feature gate %s", version, name))
		}
	}
	return out
}
