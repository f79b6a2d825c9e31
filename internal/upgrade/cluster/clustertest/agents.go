package clustertest

import (
	"encoding/hex"
	"hash/fnv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// Agents adds an agent with a healthy report to every node. cp-1 is the etcd leader and has the
// address of the endpoint.
func Agents() Change {
	return func(s *cluster.Snapshot) {
		var members []string
		for _, n := range s.ControlPlane() {
			members = append(members, n.Name)
		}
		for i := range s.Nodes {
			n := &s.Nodes[i]
			n.Report = report(n)
			if !n.ControlPlane {
				continue
			}
			leads := n.Name == members[0]
			n.Report.Etcd = &refitv1alpha1.EtcdFacts{
				Name: n.Name, ID: MachineID(n.Name)[16:], Version: etcdVersion, Healthy: true, Leader: leads, Members: members,
				DBSizeMiB: 100, QuotaMiB: 2048,
			}
			n.Report.APIServer = &refitv1alpha1.APIServerFacts{Version: n.Static["kube-apiserver"].Version, Ready: true}
			n.Report.Drift = &refitv1alpha1.DriftFacts{Known: true}
			n.Report.VirtualIPs = kubeVIP()
			if leads {
				n.Report.Addresses = append(n.Report.Addresses, "10.0.0.100")
				s.Endpoint.Via = cluster.ViaInterface
			}
		}
	}
}

// MachineID returns the machine ID of a node.
func MachineID(node string) string {
	hash := fnv.New128a()
	hash.Write([]byte(node))
	return hex.EncodeToString(hash.Sum(nil))
}

// kubeVIP is how the control plane nodes move the address of the endpoint.
func kubeVIP() []refitv1alpha1.VirtualIPFacts {
	elected := true
	return []refitv1alpha1.VirtualIPFacts{{Address: "10.0.0.100", Software: refitv1alpha1.KubeVIP, HealthCheck: &elected}}
}

func report(n *cluster.Node) *refitv1alpha1.NodeReportStatus {
	reachable, swap, runtimeConfig, inodes := true, false, true, int32(80)
	observed := metav1.NewTime(Now)
	return &refitv1alpha1.NodeReportStatus{
		ObservedTime: &observed, AgentVersion: "v0.1.0", OrderFormat: refitv1alpha1.MaxOrderFormat,
		PayloadVersion: refitv1alpha1.MaxPayloadVersion,
		NodeUID:        types.UID(n.UID), MachineID: MachineID(n.Name), BootID: n.Name + "-boot", ReleaseKeys: []string{"SHA256:simulated"},
		OS: n.OSImage, Arch: n.Arch, Kernel: n.Kernel, PackageKind: refitv1alpha1.PackageDeb, CgroupVersion: 2, SwapOn: &swap, Hostname: n.Name,
		Addresses: append([]string(nil), n.Addresses...), EndpointReachable: &reachable,
		Versions: refitv1alpha1.HostVersions{
			Kubelet: n.Kubelet, KubeletOnDisk: n.Kubelet, Kubeadm: n.Kubelet, Containerd: "2.1.5", Runc: "1.3.3", CNIPlugins: "1.8.0",
		},
		Kubelet: &refitv1alpha1.KubeletFacts{
			Flags: []string{"bootstrap-kubeconfig", "config", "kubeconfig"}, ConfigFields: []string{"cgroupDriver", "staticPodPath"},
		},
		Disks: []refitv1alpha1.DiskFacts{
			{Path: "/var/lib/kubelet", FreeMiB: 40960, NeededMiB: 2048, FreeInodesPercent: &inodes},
			{Path: "/usr", FreeMiB: 20480, NeededMiB: 512, FreeInodesPercent: &inodes},
		},
		Certificates: []refitv1alpha1.CertificateFacts{{Name: "kubelet-client-current", NotAfter: metav1.NewTime(Now.AddDate(0, 10, 0))}},
		CRI:          &refitv1alpha1.CRIFacts{Runtime: "containerd 2.1.5", RuntimeConfig: &runtimeConfig},
	}
}
