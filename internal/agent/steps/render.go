package steps

import (
	"bytes"
	"context"
	"os"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// render renders the manifests with the target's kubeadm and stages them beside the live ones,
// under names that the kubelet ignores.
func render(ctx context.Context, h *Host) error {
	if err := h.tools(ctx); err != nil {
		return err
	}
	config, err := h.readClusterConfig(ctx)
	if err != nil {
		return err
	}
	if config.RootlessControlPlane {
		return node.ManualIntervention("RootlessControlPlane", nil, "Disable the kubeadm feature gate RootlessControlPlane, then run `refit retry`",
			"kubeadm cannot render manifests with the feature gate RootlessControlPlane")
	}
	onDisk, err := ManifestsOnDisk()
	if err != nil {
		return err
	}
	joined, err := h.renderOver(ctx, config, onDisk)
	if err != nil {
		return err
	}
	return h.stageManifests(onDisk, joined)
}

// renderOver renders the manifests as an upgrade leaves them on a host that has the ones on disk.
func (h *Host) renderOver(ctx context.Context, config *kubeadm.Patched, onDisk map[string][]byte) (kubeadm.Rendered, error) {
	if err := checkPatch(config, h.Upgrade.To); err != nil {
		return nil, err
	}
	in, err := h.renderInput(config, onDisk)
	if err != nil {
		return nil, err
	}
	rendered, err := h.kubeadm().Render(ctx, in)
	if err != nil {
		return nil, err
	}
	return kubeadm.Join(onDisk, rendered)
}

func (h *Host) renderInput(config *kubeadm.Patched, onDisk map[string][]byte) (kubeadm.RenderInput, error) {
	address, port, err := kubeadm.LocalEndpoint(onDisk[kubeadm.APIServer])
	return kubeadm.RenderInput{
		Config: config.ClusterConfig, To: h.Upgrade.To, NodeName: h.Upgrade.NodeName, AdvertiseAddress: address, BindPort: port,
		CRISocket: "unix://" + h.Settings.CRISocket,
	}, err
}

func (h *Host) stageManifests(onDisk map[string][]byte, rendered kubeadm.Rendered) error {
	if err := durable.MkdirAll(h.path("rendered"), 0o700); err != nil {
		return err
	}
	for component, text := range rendered {
		text = keepEtcd(component, onDisk[component], text)
		if err := durable.WriteFile(h.rendered(component), text, 0o600); err != nil {
			return err
		}
		if bytes.Equal(text, onDisk[component]) { // for example etcd, which a rollback has kept
			continue
		}
		err := h.Effect("stage-"+component, func() error { return host.Stage(h.rendered(component), manifest(component), 0o600) })
		if err != nil {
			return err
		}
	}
	return nil
}

func (h *Host) rendered(component string) string { return h.path("rendered", component+".yaml") }

// keepEtcd returns the manifest on disk of an etcd that is new enough, as kubeadm upgrade keeps it,
// and otherwise the rendered one.
func keepEtcd(component string, onDisk, rendered []byte) []byte {
	if component == kubeadm.Etcd && !upgradesEtcd(onDisk, rendered) {
		return onDisk
	}
	return rendered
}

// upgradesEtcd reports whether a rendered manifest has a newer etcd. It returns false if a version
// is unknown: kubeadm init may render a downgrade, which kubeadm upgrade never does.
func upgradesEtcd(now, next []byte) bool {
	was, errWas := kubeadm.Parse(now)
	will, errWill := kubeadm.Parse(next)
	if errWas != nil || errWill != nil {
		return false
	}
	a, errA := skew.Parse(was.Version())
	b, errB := skew.Parse(will.Version())
	return errA == nil && errB == nil && a.Before(b)
}

// ManifestsOnDisk returns the manifests of the static pods on this host, by component.
func ManifestsOnDisk() (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, component := range kubeadm.Components() {
		text, err := os.ReadFile(manifest(component))
		switch {
		case err == nil:
			out[component] = text
		case component != kubeadm.Etcd || !os.IsNotExist(err):
			return nil, err
		}
	}
	return out, nil
}

// undoManifest restores the old manifest, unless it was changed since.
func (h *Host) undoManifest(component string) error {
	was, will, err := h.manifestDigests(component)
	if err != nil {
		return err
	}
	return h.undoSwap(component, manifest(component), was, will)
}

func (h *Host) manifestDigests(component string) (was, will string, err error) {
	saved, err := h.saved()
	if err != nil {
		return "", "", err
	}
	will, err = host.Digest(h.rendered(component))
	return saved.Digest(manifest(component)), will, err
}
