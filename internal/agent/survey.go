package agent

import (
	"context"
	"errors"
	"io/fs"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/steps"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/packages"
	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// survey determines what an order changes on the host.
func (a *Agent) survey(ctx context.Context, order *refitv1alpha1.NodeUpgrade, release artifact.Release, identity node.Identity) (*node.Upgrade, error) {
	// A kubelet behind a script is refused before the agent runs it for a version.
	if _, err := steps.BinaryPath(ctx, a.systemd, refitv1alpha1.PartKubelet, "kubelet"); err != nil {
		return nil, err
	}
	running, err := steps.RunningKubelet(ctx, a.systemd)
	if err != nil {
		return nil, err
	}
	spec := &order.Spec
	server, errServer := steps.APIServerVersion()
	w := &node.Upgrade{
		Operation: spec.Operation, Release: spec.Release, Attempt: spec.Attempt,
		NodeName: identity.NodeName, NodeUID: identity.NodeUID, MachineID: identity.MachineID,
		Role: spec.Role, From: running, To: release.Payload.Kubernetes,
		KeepAddons:    spec.KeepAddons,
		StopAPIServer: a.Settings.StopAPIServerDuringEtcdUpgrade,
		Etcd:          spec.Role != refitv1alpha1.RoleWorker && steps.HasEtcd(),
	}
	if steps.HasControlPlane() != (spec.Role != refitv1alpha1.RoleWorker) {
		return nil, &node.Refusal{Reason: node.RefusedMachine, Message: "the role " + string(spec.Role) + " of the order does not match this host"}
	}
	if err := recordCluster(w, steps.ClusterCA()); err != nil {
		return nil, err
	}
	// Images of components do not depend on the version of the host, which may be newer.
	if w.ImagesOnly = spec.Permit == refitv1alpha1.PermitPrefetch && node.Runs(w, server); w.ImagesOnly {
		return w, nil
	}
	if refusal := node.RefuseDowngrade(a.state, running, release.Payload.Kubernetes); refusal != nil {
		return nil, refusal
	}
	if errServer == nil {
		if refusal := node.RefuseDowngrade(node.HostState{}, server, release.Payload.Kubernetes); refusal != nil {
			return nil, refusal
		}
	}
	installed, err := a.installedParts(ctx)
	if err != nil {
		return nil, err
	}
	for _, part := range node.NeededParts(release.Payload, installed) {
		if err := a.surveyPart(ctx, w, release, part); err != nil {
			return nil, err
		}
	}
	w.Packages = w.Kinds[refitv1alpha1.PartKubelet]
	return w, nil
}

// surveyPart adds a part that the upgrade installs: always Kubernetes, and others if they differ.
func (a *Agent) surveyPart(ctx context.Context, w *node.Upgrade, release artifact.Release, part refitv1alpha1.PartFacts) error {
	files, err := release.For("linux", a.id.Arch, part)
	if err != nil {
		return err
	}
	if node.IsKubernetes(part.Part) {
		w.AddPart(part)
		return nil
	}
	differs := false
	for _, f := range files {
		if differs {
			break
		}
		if differs, err = a.differs(ctx, f); err != nil {
			return err
		}
	}
	if differs && part.Kind == refitv1alpha1.PackageBinary {
		name := mainBinary[part.Part]
		path, err := steps.BinaryPath(ctx, a.systemd, part.Part, name)
		if err != nil {
			return err
		}
		differs = isUpgrade(ctx, path, name, files[0].Version)
	}
	if differs {
		w.AddPart(part)
	}
	return nil
}

func (a *Agent) differs(ctx context.Context, f refitv1alpha1.ReleaseFile) (bool, error) {
	if driver := packages.Of(f.Kind); driver != nil {
		installed, err := driver.Installed(ctx, f.Name)
		return installed[f.Name] != f.Version, err
	}
	path, err := steps.BinaryPath(ctx, a.systemd, f.Part, f.Name)
	if err != nil {
		return false, err
	}
	digest, err := host.Digest(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return digest != f.Digest, err
}

// isUpgrade reports whether a binary is not newer than the one in the ClusterRelease. A newer one
// is kept: an older one may not read its data.
func isUpgrade(ctx context.Context, path, name, to string) bool {
	has, err := artifact.BinaryVersion(ctx, path, name)
	now, errNow := skew.Parse(artifact.UpstreamVersion(has))
	next, errNext := skew.Parse(artifact.UpstreamVersion(to))
	if err != nil || errNow != nil || errNext != nil {
		return true // a binary without a version is replaced by a signed one
	}
	return !next.Before(now)
}
