//go:build e2e

package upgrade

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/test/testbed/versions"
)

// thing is an object of the CRD of the made chart.
const thing = `apiVersion: made.test/v1
kind: Thing
metadata: {name: kept, namespace: default}
spec: {size: 3}
`

// componentsCI adds refit-components to the cluster, installs version 1 of the made chart with one
// ClusterRelease and upgrades it, with its CRD, with another one. Kubernetes stays.
func (s *site) componentsCI(t *testing.T) {
	t.Helper()
	begun := time.Now()
	s.UseComponents(t)
	s.Install(t)
	for _, chart := range []string{"made-1", "made-2"} {
		s.CreateNamedRelease(t, chart, newer, s.madeChart(t, chart), s.busybox(t))
		must(t, until(t.Context(), "a plan with "+chart, checkTimeout, func(ctx context.Context) error {
			_, err := s.TryRefit(ctx, "plan", "--components", "--release", chart)
			return err
		}))
		s.RunRefit(t, "upgrade", "--components", "--release", chart, "--yes")
		if chart == "made-1" {
			_, err := s.Kubectl(t.Context(), strings.NewReader(thing), "apply", "--server-side", "--filename=-")
			must(t, err)
		}
	}
	version, err := s.Kubectl(t.Context(), nil, "get", "configmap", "made-settings", "--namespace=made", "--output=jsonpath={.data.version}")
	must(t, err)
	kept, err := s.Kubectl(t.Context(), nil, "get", "things.v2.made.test", "kept", "--output=jsonpath={.spec.size}")
	must(t, err)
	if string(version) != "2.0.0" || string(kept) != "3" {
		t.Errorf("the settings are those of version %q, and the object has the size %q", version, kept)
	}
	show(t, "components_ci", time.Since(begun).Seconds(), "s")
}

// madeChart writes the file of a publisher, with a chart of the tests of components.
func (s *site) madeChart(t *testing.T, chart string) string {
	t.Helper()
	directory, err := filepath.Abs(filepath.Join("..", "components", "testdata", chart))
	must(t, err)
	file := filepath.Join(t.TempDir(), "components.yaml")
	must(t, os.WriteFile(file, fmt.Appendf(nil, `components:
- name: made
  chart: %s
  release: {namespace: made, name: made}
  values: {image: %s}
`, directory, versions.BusyboxImage), 0o644))
	return file
}

// busybox is the archive of the image of the made chart.
func (s *site) busybox(t *testing.T) string {
	t.Helper()
	parts, err := s.Release(t.Context(), newer)
	must(t, err)
	at := slices.IndexFunc(parts.Images, func(image string) bool { return strings.HasPrefix(filepath.Base(image), "busybox") })
	return parts.Images[at]
}
