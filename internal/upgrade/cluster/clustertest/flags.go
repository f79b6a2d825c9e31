package clustertest

// kubeadmFlags are the flags that kubeadm 1.35 sets on the control plane of a node, with the values
// that a Snapshot contains. Every kubeadm cluster has them, so no check may report them.
func kubeadmFlags(component, node, address string) map[string]string {
	flags := map[string]string{}
	for _, name := range namesOnly[component] {
		flags[name] = ""
	}
	switch component {
	case "kube-apiserver":
		flags["advertise-address"] = address
		flags["allow-privileged"] = "true"
		flags["authorization-mode"] = "Node,RBAC"
		flags["enable-admission-plugins"] = "NodeRestriction"
		flags["secure-port"] = "6443"
	case "kube-controller-manager":
		flags["bind-address"] = "127.0.0.1"
		flags["controllers"] = "*,bootstrapsigner,tokencleaner" // aliases
		flags["leader-elect"] = "true"
	case "kube-scheduler":
		flags["bind-address"] = "127.0.0.1"
		flags["leader-elect"] = "true"
	case "etcd":
		flags["feature-gates"] = "InitialCorruptCheck=true"
		flags["initial-cluster-state"] = "existing"
		flags["name"] = node
	}
	return flags
}

// namesOnly are the flags whose values a Snapshot does not contain.
var namesOnly = map[string][]string{
	"kube-apiserver": {
		"client-ca-file", "enable-bootstrap-token-auth", "etcd-cafile", "etcd-certfile", "etcd-keyfile", "etcd-servers",
		"kubelet-client-certificate", "kubelet-client-key", "kubelet-preferred-address-types", "proxy-client-cert-file", "proxy-client-key-file",
		"requestheader-allowed-names", "requestheader-client-ca-file", "requestheader-extra-headers-prefix", "requestheader-group-headers",
		"requestheader-username-headers", "service-account-issuer", "service-account-key-file", "service-account-signing-key-file",
		"service-cluster-ip-range", "tls-cert-file", "tls-private-key-file",
	},
	"kube-controller-manager": {
		"allocate-node-cidrs", "authentication-kubeconfig", "authorization-kubeconfig", "client-ca-file", "cluster-cidr", "cluster-name",
		"cluster-signing-cert-file", "cluster-signing-key-file", "kubeconfig", "requestheader-client-ca-file", "root-ca-file",
		"service-account-private-key-file", "service-cluster-ip-range", "use-service-account-credentials",
	},
	"kube-scheduler": {"authentication-kubeconfig", "authorization-kubeconfig", "kubeconfig"},
	"etcd": {
		"advertise-client-urls", "cert-file", "client-cert-auth", "data-dir", "initial-advertise-peer-urls", "initial-cluster", "key-file",
		"listen-client-urls", "listen-metrics-urls", "listen-peer-urls", "peer-cert-file", "peer-client-cert-auth", "peer-key-file",
		"peer-trusted-ca-file", "snapshot-count", "trusted-ca-file", "watch-progress-notify-interval",
	},
}
