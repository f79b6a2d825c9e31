package agent

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/steps"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/engine/rehearsal"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// rehearsalHops verifies ClusterReleases as an order to apply them does, fetches what a rehearsal
// needs of each, and renders its manifests over those of the hop before.
func (a *Agent) rehearsalHops(ctx context.Context, dir string, refs []refitv1alpha1.ReleaseRef, wait func(string)) ([]rehearsal.Hop, error) {
	manifests, err := steps.ManifestsOnDisk()
	if err != nil {
		return nil, err
	}
	before, err := steps.APIServerVersion()
	if err != nil {
		return nil, err
	}
	var hops []rehearsal.Hop
	for i, ref := range refs {
		wait("verifying ClusterRelease " + ref.Name)
		release, err := a.rehearsalRelease(ctx, ref, before)
		if err != nil {
			return nil, err
		}
		h, err := a.rehearsalHost(ctx, filepath.Join(dir, strconv.Itoa(i)), release)
		if err != nil {
			return nil, err
		}
		h.ReportWait = wait
		if manifests, err = h.RenderHop(ctx, manifests); err != nil {
			return nil, err
		}
		hop, err := hopOf(release.Payload.Kubernetes, manifests)
		if err != nil {
			return nil, err
		}
		hops, before = append(hops, hop), release.Payload.Kubernetes
	}
	return hops, nil
}

// rehearsalRelease reads and verifies a ClusterRelease, which must not be older than the hop before
// it.
func (a *Agent) rehearsalRelease(ctx context.Context, ref refitv1alpha1.ReleaseRef, before string) (artifact.Release, error) {
	release, _, err := a.readRelease(ctx, ref)
	if err == nil {
		if refusal := node.RefuseDowngrade(node.HostState{}, before, release.Payload.Kubernetes); refusal != nil {
			err = refusal
		}
	}
	if err == nil {
		return release, nil
	}
	if failure := permanent(err); failure != nil {
		failure.Remedy = "Fix the cause in the message, then create another EtcdBackup"
		return release, failure
	}
	return release, node.Transient("ObjectUnreadable", err, "Check that this host reaches the API server", "cannot read ClusterRelease %s", ref.Name)
}

// rehearsalHost is this host as the steps of an upgrade see it, with kubeadm as the only part.
func (a *Agent) rehearsalHost(ctx context.Context, dir string, release artifact.Release) (*steps.Host, error) {
	installed, err := a.installedParts(ctx)
	if err != nil {
		return nil, err
	}
	// The first node renders with the patch of the ClusterRelease, which a rehearsal has to try.
	upgrade := node.Upgrade{NodeName: a.client.NodeName(), Role: refitv1alpha1.RoleFirstControlPlane, To: release.Payload.Kubernetes}
	parts := node.NeededParts(release.Payload, installed)
	i := slices.IndexFunc(parts, func(p refitv1alpha1.PartFacts) bool { return p.Part == refitv1alpha1.PartKubeadm })
	if i >= 0 { // always: kubeadm is required
		upgrade.AddPart(parts[i])
	}
	return &steps.Host{
		Settings: a.Settings, Upgrade: upgrade, Dir: dir, Release: release, Store: a.store, Systemd: a.systemd, Log: a.Log, Effect: effectOf("rehearse"),
	}, nil
}

// hopOf returns what a rehearsal takes from manifests.
func hopOf(version string, manifests map[string][]byte) (rehearsal.Hop, error) {
	server, err := rehearsal.ParseManifest(manifests[kubeadm.APIServer])
	if err != nil {
		return rehearsal.Hop{}, err
	}
	if _, has := manifests[kubeadm.Etcd]; !has { // it is external
		return rehearsal.Hop{Version: version, APIServer: server}, nil
	}
	etcd, err := rehearsal.ParseManifest(manifests[kubeadm.Etcd])
	return rehearsal.Hop{Version: version, EtcdImage: etcd.Image, Etcd: etcd, APIServer: server}, err
}
