package clustertest

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// Now is the time of every Snapshot of this package.
var Now = time.Date(2026, time.March, 2, 10, 0, 0, 0, time.UTC)

// Versions and endpoint of the simulated nodes.
const (
	etcdVersion = "3.6.6"
	dnsVersion  = "v1.13.1"
	endpoint    = "10.0.0.100:6443" // provided by kube-vip on cp-1
)

var endpointIPs = []netip.Addr{netip.MustParseAddr("10.0.0.100")}

// HA returns a healthy kubeadm cluster without gaps: control plane nodes cp-1, cp-2, … with stacked
// etcd, and workers worker-1, worker-2, … in zones a, b and c. It runs kube-proxy and CoreDNS, but
// has no agents, ClusterReleases or other workloads.
func HA(version string, controlPlanes, workers int, changes ...Change) *cluster.Snapshot {
	s := &cluster.Snapshot{
		TakenAt: Now, UID: "cluster-uid", Version: version, Installed: true,
		BackupStores: []cluster.BackupStore{{Name: "local"}}, Kubeadm: kubeadm(version),
		Endpoint: cluster.Endpoint{Address: endpoint, IPs: endpointIPs, Holder: "cp-1", Via: cluster.ViaKubeVIP},
	}
	for i := range controlPlanes {
		name := fmt.Sprintf("cp-%d", i+1)
		n := node(name, version, i, fmt.Sprintf("10.0.0.%d", i+1))
		asControlPlane(&n, version)
		s.Nodes = append(s.Nodes, n)
		s.APIServers = append(s.APIServers, cluster.APIServer{
			Node: name, Address: n.Addresses[0] + ":6443", Via: cluster.ViaAddress, Version: version,
			Ready: cluster.Yes, DeprecatedKnown: cluster.Yes,
		})
	}
	for i := range workers {
		s.Nodes = append(s.Nodes, node(fmt.Sprintf("worker-%d", i+1), version, i, fmt.Sprintf("10.%d.%d.%d", 1+i/62500, i/250%250, 1+i%250)))
	}
	systemPods(s)
	for _, change := range changes {
		change(s)
	}
	return s
}

// Single returns a healthy single-node cluster.
func Single(version string, changes ...Change) *cluster.Snapshot {
	alone := func(s *cluster.Snapshot) {
		s.Nodes[0].Taints = nil
		s.Endpoint = cluster.Endpoint{
			Address: s.APIServers[0].Address, IPs: []netip.Addr{netip.MustParseAddr(s.Nodes[0].Addresses[0])}, Holder: "cp-1", Via: cluster.ViaNodeAddress,
		}
		s.Kubeadm.Endpoint = ""
	}
	return HA(version, 1, 0, append([]Change{alone}, changes...)...)
}

func kubeadm(version string) *cluster.Kubeadm {
	return &cluster.Kubeadm{
		APIVersion: "kubeadm.k8s.io/v1beta4", KubernetesVersion: version, ClusterName: "kubernetes", Endpoint: endpoint,
		ImageRepository: "registry.k8s.io",
		Kubelet:         &cluster.KubeletConfig{Fields: []string{"cgroupDriver", "clusterDNS[]", "clusterDomain", "staticPodPath"}},
		HasProxy:        true, ProxyMode: "iptables",
		HasDNS: true, DNSVersion: dnsVersion, CorefilePlugins: []string{"cache", "errors", "forward", "health", "kubernetes", "loop", "ready", "reload"},
	}
}

func node(name, version string, i int, address string) cluster.Node {
	zone := string(rune('a' + i%3))
	return cluster.Node{
		Name: name, UID: name + "-uid", Zone: zone,
		Labels: map[string]string{
			"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", "topology.kubernetes.io/zone": zone,
		},
		Addresses: []string{address}, CreatedAt: Now.AddDate(0, -6, 0),
		Kubelet: version, KubeProxy: version, Runtime: "containerd://2.1.5",
		OS: "linux", OSImage: "Debian GNU/Linux 12 (bookworm)", Arch: "amd64", Kernel: "6.1.0-40-amd64",
		Ready: cluster.Yes, ReadySince: Now.AddDate(0, 0, -30),
		Allocatable: cluster.Resources{MilliCPU: 4000, Memory: 16 << 30, Pods: 110},
	}
}

func asControlPlane(n *cluster.Node, version string) {
	n.ControlPlane = true
	n.Labels["node-role.kubernetes.io/control-plane"] = ""
	n.Taints = []cluster.Taint{{Key: "node-role.kubernetes.io/control-plane", Effect: "NoSchedule"}}
	n.Static = map[string]cluster.StaticPod{"etcd": {
		Image: "registry.k8s.io/etcd:" + etcdVersion + "-0", Version: etcdVersion, Ready: true, Flags: kubeadmFlags("etcd", n.Name, n.Addresses[0]),
	}}
	for _, component := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler"} {
		n.Static[component] = cluster.StaticPod{
			Image: "registry.k8s.io/" + component + ":" + version, Version: version, Ready: true, Flags: kubeadmFlags(component, n.Name, n.Addresses[0]),
		}
	}
}

// systemPods adds the pods of every kubeadm cluster. CoreDNS runs on the first two nodes.
func systemPods(s *cluster.Snapshot) {
	everywhere, dns, static := map[string]int32{}, map[string]int32{}, map[string]int32{}
	for _, n := range append(s.Workers(), s.ControlPlane()...) {
		everywhere[n.Name] = 1
		if len(dns) < 2 {
			dns[n.Name] = 1
		}
		if n.ControlPlane {
			static[n.Name] = 1
		}
	}
	Pods(cluster.Workload{Namespace: "kube-system", Kind: "DaemonSet", Name: "kube-proxy"}, everywhere)(s)
	Pods(cluster.Workload{
		Namespace: "kube-system", Kind: "Deployment", Name: "coredns", Request: cluster.Resources{MilliCPU: 100, Memory: 70 << 20},
	}, dns)(s)
	for _, component := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"} {
		Pods(cluster.Workload{Namespace: "kube-system", Kind: "Node", Name: component}, static)(s)
	}
}
