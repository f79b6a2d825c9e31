package drift

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

const etcd = "etcd"

// obstacle returns why a setting cannot be configuration of the whole cluster, or an empty string.
type obstacle func(in *Input, s Setting) string

// all obstacles, the most fundamental first: a setting has the first one that applies.
var obstacles = []obstacle{
	notRunning, // the manifest was changed a moment ago, or the report is cut
	secret,     // the configuration is not
	repeated,   // not in a map
	notHostPath,
	ofEtcd,
	differs, // on other nodes
}

// obstacles returns the obstacles of settings, once each.
func (in *Input) obstacles(settings []Setting) []string {
	var out []string
	for _, s := range settings {
		for _, check := range obstacles {
			if reason := check(in, s); reason != "" {
				out = append(out, reason)
				break
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func notRunning(in *Input, s Setting) string {
	if in.pod(s).has(s) {
		return ""
	}
	return fmt.Sprintf("the running pod on %s does not have %s", in.Node, s)
}

// secret rejects values with a password: every node that joins may read the ClusterConfiguration.
func secret(in *Input, s Setting) string {
	if slices.ContainsFunc(in.pod(s).Flags[s.Flag], IsSecret) {
		return fmt.Sprintf("the value of %s contains a password, and every joining node can read the kubeadm configuration", s)
	}
	return ""
}

// IsSecret reports whether the value of a flag contains a password.
func IsSecret(value string) bool {
	for part := range strings.SplitSeq(value, ",") {
		address, err := url.Parse(part)
		if err != nil && strings.Contains(part, "@") && strings.Contains(part, "://") {
			return true
		}
		if err == nil && address.User != nil {
			return true
		}
	}
	return false
}

func repeated(in *Input, s Setting) string {
	if in.Config.RepeatsFlags || len(in.pod(s).Flags[s.Flag]) < 2 {
		return ""
	}
	return fmt.Sprintf("%s is set several times, which the kubeadm configuration cannot express before v1beta4", s)
}

func notHostPath(in *Input, s Setting) string {
	if mount, is := in.pod(s).mount(s.Mount); is && mount.HostPath == "" {
		return fmt.Sprintf("the volume of %s is not a hostPath", s)
	}
	return ""
}

func ofEtcd(_ *Input, s Setting) string {
	if s.Component == etcd && s.Mount != "" {
		return fmt.Sprintf("the kubeadm configuration has no extraVolumes for %s", s.Component)
	}
	return ""
}

func differs(in *Input, s Setting) string {
	others := in.Pods.otherNodes(in.Node, s)
	if len(others) == 0 {
		return ""
	}
	return fmt.Sprintf("%s is not the same on %s", s, phrase.Fold(others, 8))
}
