package rehearsal

import "slices"

// TokenFile is the file of static tokens in the scratch directory.
const TokenFile = Scratch + "/tokens.csv"

// APIServerDifferences are the flags of kube-apiserver that differ in a rehearsal.
var APIServerDifferences = []Difference{
	{"etcd-servers", EtcdURL, "the restored copy, never the live etcd"},
	{"etcd-servers-overrides", "", "the data of other etcd clusters is not in the backup"},
	{"etcd-cafile", "", "the restored etcd listens on loopback without TLS"},
	{"etcd-certfile", "", "as etcd-cafile"},
	{"etcd-keyfile", "", "as etcd-cafile"},
	{"bind-address", "127.0.0.1", "there is only a loopback device"},
	{"secure-port", "6443", "a port below 1024 needs a capability"},
	{"advertise-address", "127.0.0.1", "there is only a loopback device"},
	{"peer-advertise-ip", "", "there are no peers"},
	{"peer-advertise-port", "", "there are no peers"},
	{"endpoint-reconciler-type", "none", "the address of the rehearsal is not an endpoint of the cluster"},
	{"cert-dir", Scratch + "/certificates", "the root directory is read-only"},
	{"token-auth-file", TokenFile, "the requests of the rehearsal have a token of their own; the tokens of the cluster stay in the file"},
	{"audit-log-path", "", "the audit log of the cluster records only real requests"},
	{"audit-webhook-config-file", "", "as audit-log-path, and nothing is reachable"},
	{"egress-selector-config-file", "", "konnectivity and other proxies are not reachable"},
	{"tracing-config-file", "", "collectors are not reachable"},
}

// WithoutWatchCache is the difference of a rehearsal on a host with little memory.
var WithoutWatchCache = Difference{"watch-cache", "false", "the host has too little memory for a copy of all objects"}

// APIServer returns the arguments of kube-apiserver in a rehearsal.
func APIServer(m Manifest, watchCache bool) []string {
	differences := APIServerDifferences
	if !watchCache {
		differences = append(slices.Clip(differences), WithoutWatchCache)
	}
	return m.apply(differences)
}
