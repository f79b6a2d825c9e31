package kubeadm

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
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

// LostSecurity lists the settings of audit, authentication, authorization, admission, encryption
// and TLS that the manifests on disk have and the rendered ones do not: flags, and mounts with the
// files of such flags. It omits values, as Drift does.
func LostSecurity(onDisk, rendered map[string][]byte) []string {
	var lost []string
	for _, component := range Components() {
		before, err := Parse(onDisk[component])
		after, errRendered := Parse(rendered[component])
		if err != nil || errRendered != nil || before.Pod == nil || after.Pod == nil {
			continue // reported as missing, or as a difference
		}
		for _, setting := range lostSettings(component, before, after) {
			lost = append(lost, component+" "+setting)
		}
	}
	return lost
}

func lostSettings(component string, before, after Manifest) []string {
	var lost []string
	mounts, kept := mountsByPath(before), mountsByPath(after)
	for _, name := range slices.Sorted(maps.Keys(before.Flags)) {
		if !isSecurityFlag(component, name) {
			continue
		}
		values := before.Flags[name]
		if !equality.Semantic.DeepEqual(values, after.Flags[name]) {
			lost = append(lost, "--"+name)
		}
		for path := range mounts {
			if kept[path] != mounts[path] && slices.ContainsFunc(values, func(v string) bool { return v == path || strings.HasPrefix(v, path+"/") }) {
				lost = append(lost, "mount "+path)
			}
		}
	}
	slices.Sort(lost)
	return slices.Compact(lost)
}

func isSecurityFlag(component, name string) bool {
	return slices.ContainsFunc(securityFlags[component], func(known string) bool {
		return name == known || strings.HasSuffix(known, "-") && strings.HasPrefix(name, known)
	})
}
