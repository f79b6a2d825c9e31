package kubeadm

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/refit-dev/refit/internal/upgrade/drift"
)

// securityFlags are the flags that decide who may do what, what is logged, and what is encrypted,
// by component. A name that ends in a dash stands for all flags that start with it.
var securityFlags = map[string][]string{
	APIServer: {
		"admission-control-config-file", "anonymous-auth", "audit-", "authentication-", "authorization-", "client-ca-file", "disable-admission-plugins",
		"enable-admission-plugins", "encryption-provider-", "oidc-", "requestheader-", "service-account-", "tls-", "token-auth-file",
	},
	ControllerManager: {"authentication-", "authorization-", "client-ca-file", "requestheader-", "tls-", "use-service-account-credentials"},
	Scheduler:         {"authentication-", "authorization-", "client-ca-file", "requestheader-", "tls-"},
	Etcd:              {"cipher-suites", "client-cert-auth", "peer-client-cert-auth", "peer-trusted-ca-file", "tls-", "trusted-ca-file"},
}

// securityConfigs are the flags of configuration files that name other files, such as a kubeconfig
// or the socket of a KMS plugin.
var securityConfigs = []string{
	"admission-control-config-file", "audit-webhook-config-file", "authentication-config", "authentication-token-webhook-config-file",
	"authorization-config", "authorization-webhook-config-file", "encryption-provider-config",
}

// LostSecurity lists the settings of audit, authentication, authorization, admission, encryption
// and TLS that the manifests on disk have and the rendered ones do not: flags, and mounts with the
// files of such flags, or all mounts if these files may name others. It omits values, as Drift
// does.
func LostSecurity(onDisk, rendered map[string][]byte) []string {
	var lost []string
	for _, component := range Components() {
		before, err := Parse(onDisk[component])
		after, errRendered := Parse(rendered[component])
		if err != nil || errRendered != nil || before.Pod == nil || after.Pod == nil {
			continue // reported as missing, or as a difference
		}
		lost = append(lost, lostSettings(component, before, after)...)
	}
	return lost
}

func lostSettings(component string, before, after Manifest) []string {
	var lost []string
	add := func(s drift.Setting) { lost = append(lost, s.String()) }
	mounts, kept := mountsByPath(before), mountsByPath(after)
	for _, name := range slices.Sorted(maps.Keys(before.Flags)) {
		if !isSecurityFlag(component, name) {
			continue
		}
		values := before.Flags[name]
		if !equality.Semantic.DeepEqual(values, after.Flags[name]) {
			add(drift.Setting{Component: component, Flag: name})
		}
		for path := range mounts {
			if kept[path] != mounts[path] && (slices.Contains(securityConfigs, name) || holds(path, values)) {
				add(drift.Setting{Component: component, Mount: path})
			}
		}
	}
	slices.Sort(lost)
	return slices.Compact(lost)
}

// holds reports whether a directory or file is mounted for one of the values.
func holds(path string, values []string) bool {
	return slices.ContainsFunc(values, func(v string) bool { return v == path || strings.HasPrefix(v, path+"/") })
}

func isSecurityFlag(component, name string) bool {
	return slices.ContainsFunc(securityFlags[component], func(known string) bool {
		return name == known || strings.HasSuffix(known, "-") && strings.HasPrefix(name, known)
	})
}
