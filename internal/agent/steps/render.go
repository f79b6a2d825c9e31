package steps

import (
	"bytes"
	"context"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// clusterConfigFile is kubeadm's ClusterConfiguration as it was when the work began.
const clusterConfigFile = "cluster-configuration.json"

// render lets the target's kubeadm write the manifests into the work's directory, and puts them beside those in use under names that the kubelet ignores.
func render(ctx context.Context, h *Host) error {
	if err := h.tools(ctx); err != nil {
		return err
	}
	config, err := h.readClusterConfig(ctx)
	if err != nil {
		return err
	}
	if config.RootlessControlPlane {
		return node.ManualIntervention("RootlessControlPlane", nil, "turn kubeadm's gate RootlessControlPlane off, then refit retry",
			"kubeadm cannot render manifests with RootlessControlPlane")
	}
	onDisk, err := manifestsOnDisk()
	if err != nil {
		return err
	}
	in, err := h.renderInput(config, onDisk)
	if err != nil {
		return err
	}
	rendered, err := h.kubeadm().Render(ctx, in)
	if err != nil {
		return err
	}
	joined, err := kubeadm.Join(onDisk, rendered)
	if err != nil {
		return err
	}
	return h.stageManifests(onDisk, joined)
}

func (h *Host) renderInput(config *kubeadm.ClusterConfig, onDisk map[string][]byte) (kubeadm.RenderInput, error) {
	address, port, err := kubeadm.LocalEndpoint(onDisk[kubeadm.APIServer])
	return kubeadm.RenderInput{
		Config: config, To: h.Work.To, NodeName: h.Work.NodeName, AdvertiseAddress: address, BindPort: port, CRISocket: "unix://" + h.Settings.CRISocket,
	}, err
}

func (h *Host) stageManifests(onDisk map[string][]byte, rendered kubeadm.Rendered) error {
	if err := durable.MkdirAll(h.path("rendered"), 0o700); err != nil {
		return err
	}
	for component, text := range rendered {
		if component == kubeadm.Etcd && !raises(onDisk[component], text) {
			text = onDisk[component] // as kubeadm's upgrade does: an etcd that is new enough is left alone
		}
		if err := durable.WriteFile(h.rendered(component), text, 0o600); err != nil {
			return err
		}
		if bytes.Equal(text, onDisk[component]) { // as etcd's that stayed when the rest went back
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

// raises says whether a manifest brings a newer etcd. Where a version cannot be told it does not: init renders a downgrade where upgrade would not.
func raises(now, next []byte) bool {
	was, errWas := kubeadm.Parse(now)
	will, errWill := kubeadm.Parse(next)
	if errWas != nil || errWill != nil {
		return false
	}
	a, errA := skew.Parse(was.Version())
	b, errB := skew.Parse(will.Version())
	return errA == nil && errB == nil && a.Before(b)
}

func manifestsOnDisk() (map[string][]byte, error) {
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

// readClusterConfig reads it from the cluster once, and then from the work's directory: a later step must not depend on an API server.
func (h *Host) readClusterConfig(ctx context.Context) (*kubeadm.ClusterConfig, error) {
	if exists(h.path(clusterConfigFile)) {
		return h.clusterConfig()
	}
	client, err := h.api()
	if err != nil {
		return nil, err
	}
	stored, err := client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Get(ctx, "kubeadm-config", metav1.GetOptions{})
	if err != nil {
		return nil, node.Transient("APIAway", err, "see that an API server answers, then refit retry",
			"kubeadm's configuration cannot be read from the cluster")
	}
	if err := h.writeJSON(clusterConfigFile, stored.Data); err != nil {
		return nil, err
	}
	return kubeadm.ReadClusterConfig(stored.Data)
}

func (h *Host) clusterConfig() (*kubeadm.ClusterConfig, error) {
	var data map[string]string
	if err := h.readJSON(clusterConfigFile, &data); err != nil {
		return nil, err
	}
	return kubeadm.ReadClusterConfig(data)
}

// unswapManifest lets the kubelet see the old one again. What somebody else wrote there is left alone.
func (h *Host) unswapManifest(component string) error {
	was, will, err := h.manifestDigests(component)
	if err != nil {
		return err
	}
	return h.unswap(component, manifest(component), was, will)
}

func (h *Host) manifestDigests(component string) (was, will string, err error) {
	saved, err := h.saved()
	if err != nil {
		return "", "", err
	}
	if entry, ok := saved.Entry(manifest(component)); ok && !entry.Absent {
		was = entry.Digest
	}
	will, err = host.Digest(h.rendered(component))
	return was, will, err
}
