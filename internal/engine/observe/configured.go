package observe

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/configpatch"
	"github.com/refit-dev/refit/internal/upgrade/signedconfig"
)

// configuredFields returns the fields of the ClusterConfiguration that a ClusterRelease can set.
func configuredFields(text string) (configpatch.Values, error) {
	var document map[string]any
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		return nil, fmt.Errorf("cannot parse the ClusterConfiguration of kubeadm: %w", err)
	}
	return configpatch.Read(document)
}

// readPatched reads what the last ClusterRelease has set in the ClusterConfiguration. Without a
// record none has set anything.
func (obs *observation) readPatched(ctx context.Context, into *cluster.Kubeadm) error {
	found, err := obs.client.CoreV1().ConfigMaps(kubeSystem).Get(ctx, configpatch.ConfigMap, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return requestFailed(getIn("configmap", kubeSystem, configpatch.ConfigMap), err)
	}
	if into.Patched, err = configpatch.Decode(found.Data); err != nil {
		return fmt.Errorf("cannot parse the ConfigMap %s/%s: %w", kubeSystem, configpatch.ConfigMap, err)
	}
	return nil
}

// readConfigured adds the values of the ClusterConfiguration that a ClusterRelease has. Others may
// be secrets.
func (obs *observation) readConfigured(context.Context) error {
	kubeadm := obs.snapshot.Kubeadm
	if kubeadm == nil {
		return nil
	}
	signed := []configpatch.Values{kubeadm.Patched}
	for i := range obs.snapshot.Releases {
		signed = append(signed, signedconfig.Of(obs.snapshot.Releases[i].Payload.ClusterConfiguration))
	}
	if known := obs.configured.Known(signed...); len(known) > 0 {
		kubeadm.Configured = known
	}
	return nil
}
