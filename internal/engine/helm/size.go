package helm

import (
	"context"
	"fmt"
	"time"

	rcommon "helm.sh/helm/v4/pkg/release/common"
	release "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

// RecordSize returns the size of the record of an upgrade. A plan compares it with MaxRecord. The
// record of a wave may be larger by the old objects that it keeps; pass them.
func RecordSize(chart *Chart, values map[string]any, r Release, rendering Rendering, kept []Object) (int, error) {
	content, err := chart.open()
	if err != nil {
		return 0, err
	}
	manifest, err := streamOf(append(append([]Object{}, rendering.Objects...), kept...))
	if err != nil {
		return 0, err
	}
	record := &release.Release{
		Name: r.Name, Namespace: r.Namespace, Version: 1, Chart: content, Config: values, Manifest: manifest,
		Info: &release.Info{Status: rcommon.StatusDeployed, LastDeployed: time.Unix(0, 0), Description: Mark{Operation: "plan"}.String()},
	}
	for _, hook := range rendering.Hooks {
		text, err := streamOf([]Object{hook})
		if err != nil {
			return 0, err
		}
		record.Hooks = append(record.Hooks, &release.Hook{Name: hook.Name, Kind: hook.Kind, Path: hook.Source, Manifest: text})
	}
	measured := &measuringSecrets{}
	if err := driver.NewSecrets(measured).Create("record", record); err != nil {
		return 0, fmt.Errorf("cannot measure the record: %w", err)
	}
	return measured.size, nil
}

// measuringSecrets measures a Secret instead of creating it, so that Helm's own encoding counts.
type measuringSecrets struct {
	corev1client.SecretInterface
	size int
}

func (m *measuringSecrets) Create(_ context.Context, secret *corev1.Secret, _ metav1.CreateOptions) (*corev1.Secret, error) {
	m.size = sizeOf(secret)
	return secret, nil
}
