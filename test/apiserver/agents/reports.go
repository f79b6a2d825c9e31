package agents

import (
	"context"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// handleReport handles a change of a NodeReport, in which the controller may have requested a
// report.
func (a *Agents) handleReport(object any, gone bool) {
	r, is := object.(*refitv1alpha1.NodeReport)
	if !is {
		return
	}
	h := a.host(r.Name)
	if h == nil {
		return
	}
	h.mu.Lock()
	requested := gone || r.Spec.Request > h.request
	h.request = max(h.request, r.Spec.Request)
	h.mu.Unlock()
	if requested {
		h.report()
	}
}

// Reported waits until every Node has a report.
func (a *Agents) Reported(ctx context.Context) error {
	return wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		var reports refitv1alpha1.NodeReportList
		if !a.cache.WaitForCacheSync(ctx) {
			return false, ctx.Err()
		}
		if err := a.cache.List(ctx, &reports, client.UnsafeDisableDeepCopy); err != nil {
			return false, err
		}
		reported := map[types.UID]bool{}
		for i := range reports.Items {
			reported[reports.Items[i].Status.NodeUID] = true
		}
		a.mu.Lock()
		hosts := slices.Collect(maps.Values(a.hosts))
		a.mu.Unlock()
		for _, h := range hosts {
			h.mu.Lock()
			has := reported[h.uid]
			h.mu.Unlock()
			if !has {
				return false, nil
			}
		}
		return len(hosts) > 0, nil
	})
}

// report writes the host's current facts.
func (h *host) report() {
	h.facts.put(h.agents, func(ctx context.Context) error {
		err := h.agents.apply(ctx, &refitv1alpha1.NodeReport{ObjectMeta: metav1.ObjectMeta{Name: h.name}}, "NodeReport", h.reportStatus())
		if !apierrors.IsNotFound(err) {
			return err
		}
		h.mu.Lock()
		owner := metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: h.name, UID: h.uid}
		h.mu.Unlock()
		made := &refitv1alpha1.NodeReport{ObjectMeta: metav1.ObjectMeta{Name: h.name, OwnerReferences: []metav1.OwnerReference{owner}}}
		if err := h.agents.client.Create(ctx, made); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
		return h.agents.apply(ctx, &refitv1alpha1.NodeReport{ObjectMeta: metav1.ObjectMeta{Name: h.name}}, "NodeReport", h.reportStatus())
	})
}

// reportStatus returns the facts that the host reports.
func (h *host) reportStatus() refitv1alpha1.NodeReportStatus {
	facts := h.gather()
	if edit := h.agents.options.EditReport; edit != nil {
		edit(h.name, &facts)
	}
	return facts
}

// gather returns the facts of a healthy host at its current versions.
func (h *host) gather() refitv1alpha1.NodeReportStatus {
	members := h.agents.members()
	h.mu.Lock()
	defer h.mu.Unlock()
	yes, no, inodes, now := true, false, int32(80), metav1.NewTime(time.Now().UTC().Truncate(time.Second))
	kubelet, info := h.versions[node.StepKubelet], &h.seen.Status.NodeInfo
	out := refitv1alpha1.NodeReportStatus{
		Answered: h.request, ObservedTime: &now, AgentVersion: agentVersion, OrderFormat: refitv1alpha1.MaxOrderFormat,
		PayloadVersion: refitv1alpha1.MaxPayloadVersion, AcceptedSequence: h.memory.Sequence,
		AcceptedEpoch: h.memory.Epoch,
		NodeUID:       h.uid, MachineID: h.memory.MachineID, BootID: h.name + "-boot", ReleaseKeys: []string{artifact.PublicOf(key).ID},
		OS: info.OSImage, Arch: info.Architecture, Kernel: info.KernelVersion, PackageKind: refitv1alpha1.PackageDeb, CgroupVersion: 2, SwapOn: &no,
		Hostname: h.name, EndpointReachable: &yes,
		Versions: refitv1alpha1.HostVersions{
			Kubelet: kubelet, KubeletOnDisk: kubelet, Kubeadm: kubelet, Containerd: "2.1.5", Runc: "1.3.3", CNIPlugins: "1.8.0",
		},
		Kubelet:      &refitv1alpha1.KubeletFacts{Flags: []string{"config", "kubeconfig"}, ConfigFields: []string{"cgroupDriver", "staticPodPath"}},
		Disks:        []refitv1alpha1.DiskFacts{{Path: "/var/lib/kubelet", FreeMiB: 40960, NeededMiB: 2048, FreeInodesPercent: &inodes}},
		Certificates: []refitv1alpha1.CertificateFacts{{Name: "kubelet-client-current", NotAfter: metav1.NewTime(now.AddDate(0, 10, 0))}},
		CRI:          &refitv1alpha1.CRIFacts{Runtime: "containerd 2.1.5", RuntimeConfig: &yes},
	}
	for _, address := range h.seen.Status.Addresses {
		out.Addresses = append(out.Addresses, address.Address)
	}
	if !h.controlPlane {
		return out
	}
	leads := members[0] == h.name
	if leads {
		out.Addresses = append(out.Addresses, endpointAddress)
	}
	out.Drift = &refitv1alpha1.DriftFacts{Known: true}
	out.Etcd = &refitv1alpha1.EtcdFacts{
		Name: h.name, ID: h.memory.MachineID[:16], Version: h.versions[node.StepEtcd], Healthy: true, Leader: leads, Members: members,
		DBSizeMiB: 100, QuotaMiB: 2048,
	}
	out.APIServer = &refitv1alpha1.APIServerFacts{Version: h.versions[node.StepAPIServer], Ready: true}
	return out
}
