package offer

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/internal/upgrade/component"
)

// packed packs a chart with one template.
func packed(t *testing.T, template string) []byte {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "templates"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"Chart.yaml": "apiVersion: v2\nname: app\nversion: 2.0.0\n", "templates/a.yaml": template} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	archive, err := helm.Pack(dir)
	if err != nil {
		t.Fatal(err)
	}
	return archive
}

// computed computes the offer of a chart with one template, over a release with a ConfigMap.
func computed(t *testing.T, template string, change func(*Input)) *Offer {
	t.Helper()
	const old = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	release := refitv1alpha1.HelmRelease{Namespace: "shop", Name: "app"}
	chart, err := helm.Load(packed(t, old))
	if err != nil {
		t.Fatal(err)
	}
	capabilities := helm.Capabilities{Kubernetes: "v1.36.3", APIVersions: []string{"v1"}}
	deployed, err := helm.Render(t.Context(), chart, nil, helm.Release(release), capabilities, true)
	if err != nil {
		t.Fatal(err)
	}
	in := Input{
		Component: refitv1alpha1.ReleaseComponent{Name: "app", Version: "2.0.0", Release: release, UserMay: []string{"**"}},
		Archive:   packed(t, template), Action: component.Upgrade, From: "1.0.0", Capabilities: capabilities,
		Owner: refitv1alpha1.OwnerRefit, Deployed: &helm.Record{Revision: 1, Objects: deployed.Objects},
		Foreign: func(context.Context, []helm.Ref) ([]helm.ForeignObject, error) { return nil, nil },
	}
	if change != nil {
		change(&in)
	}
	o, err := Compute(t.Context(), Cluster{Reader: fake.NewClientBuilder().Build(), CRDs: noCRDs{}}, in)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestTheDigestOfAChartThatReadsTheClock(t *testing.T) {
	const template = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {at: {{ now | unixEpoch | quote }}}\n"
	first := computed(t, template, nil)
	time.Sleep(1100 * time.Millisecond)
	if second := computed(t, template, nil); first.Digest == "" || first.Digest != second.Digest {
		t.Errorf("the digests are %q and %q", first.Digest, second.Digest)
	}
	if changes := first.Changes; len(changes) != 1 || !strings.Contains(changes[0].Fields[0].Path, "data") {
		t.Errorf("changes: %+v", changes)
	}
}
