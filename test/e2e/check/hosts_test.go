//go:build e2e

package check

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// No agent writes NodeReports here, so the tests write the reports of an agent.

// host is the report of a node's agent: the healthy state and the changes that defects make to it.
type host struct {
	well  refitv1alpha1.NodeReportStatus
	edits []*hostEdit
}

type hostEdit struct {
	change func(*refitv1alpha1.NodeReportStatus)
}

var reportsResource = refitv1alpha1.GroupVersion.WithResource("nodereports")

// reportAll writes the report of a healthy host for every node.
func (b *bed) reportAll(ctx context.Context) error {
	var members []string
	for _, n := range b.OfRole(cluster.RoleControlPlane) {
		members = append(members, n.Name())
	}
	for _, n := range b.Nodes() {
		node, err := b.client.CoreV1().Nodes().Get(ctx, n.Name(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		b.hosts[n.Name()] = &host{well: wellHost(node, n, members)}
		if err := b.report(ctx, n.Name()); err != nil {
			return err
		}
	}
	return nil
}

// onHost returns a fault that only an agent on the host can detect.
func onHost(name string, change func(*refitv1alpha1.NodeReportStatus)) fault {
	e := &hostEdit{change}
	return fault{
		seed: func(ctx context.Context, b *bed) error {
			node := b.mustNode(name).Name()
			b.hosts[node].edits = append(b.hosts[node].edits, e)
			return b.report(ctx, node)
		},
		restore: func(ctx context.Context, b *bed) error {
			node := b.mustNode(name).Name()
			b.hosts[node].edits = slices.DeleteFunc(b.hosts[node].edits, func(other *hostEdit) bool { return other == e })
			return b.report(ctx, node)
		},
	}
}

// report writes the report of one node.
func (b *bed) report(ctx context.Context, node string) error {
	said := refitv1alpha1.NodeReport{
		TypeMeta:   metav1.TypeMeta{APIVersion: refitv1alpha1.GroupVersion.String(), Kind: "NodeReport"},
		ObjectMeta: metav1.ObjectMeta{Name: node},
	}
	b.hosts[node].well.DeepCopyInto(&said.Status)
	for _, e := range b.hosts[node].edits {
		e.change(&said.Status)
	}
	reports := b.objects.Resource(reportsResource)
	found, err := reports.Get(ctx, node, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		empty := map[string]any{"apiVersion": said.APIVersion, "kind": said.Kind, "metadata": map[string]any{"name": node}}
		found, err = reports.Create(ctx, &unstructured.Unstructured{Object: empty}, metav1.CreateOptions{})
	}
	if err != nil {
		return err
	}
	said.ResourceVersion = found.GetResourceVersion()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&said)
	if err != nil {
		return err
	}
	_, err = reports.UpdateStatus(ctx, &unstructured.Unstructured{Object: content}, metav1.UpdateOptions{})
	return err
}

// wellHost returns the report of a healthy host.
func wellHost(node *corev1.Node, n *cluster.Node, members []string) refitv1alpha1.NodeReportStatus {
	system := node.Status.NodeInfo
	nextYear := metav1.NewTime(time.Now().AddDate(1, 0, 0).UTC().Truncate(time.Second))
	status := refitv1alpha1.NodeReportStatus{
		ObservedTime: new(metav1.NewTime(time.Now().UTC().Truncate(time.Second))),
		AgentVersion: "v0.1.0", OrderFormat: refitv1alpha1.MaxOrderFormat, PayloadVersion: refitv1alpha1.MaxPayloadVersion,
		NodeUID: node.UID, MachineID: system.MachineID, BootID: system.BootID, ReleaseKeys: []string{"SHA256:of-the-owner"},
		OS: system.OSImage, Arch: system.Architecture, Kernel: system.KernelVersion, PackageKind: refitv1alpha1.PackageBinary,
		CgroupVersion: 2, SwapOn: new(false), Hostname: n.Name(), ClockOffsetMilliseconds: new(int64(3)),
		Addresses: []string{n.Address().String()}, EndpointReachable: new(true),
		Versions: refitv1alpha1.HostVersions{
			Kubelet: system.KubeletVersion, KubeletOnDisk: system.KubeletVersion, Kubeadm: system.KubeletVersion,
			Containerd: "2.4.2", Runc: "1.3.3", CNIPlugins: "1.8.0",
		},
		Kubelet: &refitv1alpha1.KubeletFacts{
			Flags:        []string{"bootstrap-kubeconfig", "config", "kubeconfig", "node-ip"},
			ConfigFields: []string{"cgroupDriver", "failCgroupV1", "staticPodPath"}, FailCgroupV1: new(false),
		},
		Disks: []refitv1alpha1.DiskFacts{
			{Path: "/var/lib/containerd", FreeMiB: 40960, NeededMiB: 2048, FreeInodesPercent: new(int32(80))},
			{Path: "/usr", FreeMiB: 20480, NeededMiB: 512, FreeInodesPercent: new(int32(80))},
		},
		Certificates: []refitv1alpha1.CertificateFacts{{Name: "kubelet-client-current", NotAfter: nextYear}},
		CRI:          &refitv1alpha1.CRIFacts{Runtime: "containerd 2.4.2", RuntimeConfig: new(true)},
	}
	if n.Role() == cluster.RoleControlPlane {
		status.Certificates = append(status.Certificates, refitv1alpha1.CertificateFacts{Name: "apiserver", NotAfter: nextYear})
		status.Drift = &refitv1alpha1.DriftFacts{Known: true}
		status.APIServer = &refitv1alpha1.APIServerFacts{Version: system.KubeletVersion, Ready: true}
		status.Etcd = &refitv1alpha1.EtcdFacts{
			Name: n.Name(), Version: "3.6.6", Healthy: true, Leader: n.Name() == members[0], Members: members, DBSizeMiB: 40, QuotaMiB: 2048,
		}
	}
	return status
}
