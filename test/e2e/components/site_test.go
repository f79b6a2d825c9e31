//go:build e2e

package components

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed"
	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// site is a cluster with Refit, refit-components, and add-ons that a user has installed with Helm.
type site struct {
	*bed.Site
	helm           string
	before, after  map[string]builder.Addon // by name
	made           [2]string                // directories of the chart
	busyboxArchive string
	// installed are the revisions of the user's Helm releases.
	installed map[string]helmRelease
}

// newSite creates a cluster and installs Refit with refit-components. The add-ons are built before.
func newSite(t *testing.T, spec cluster.Spec, addons ...string) *site {
	t.Helper()
	s := &site{before: map[string]builder.Addon{}, after: map[string]builder.Addon{}}
	for _, name := range addons {
		before, after := bed.Addon(t, name)
		if name == lws {
			before.Chart, after.Chart = graceful(t, before.Chart), graceful(t, after.Chart)
		}
		s.before[name], s.after[name] = before, after
	}
	var err error
	s.helm, err = testbed.Builder(t).Helm(context.WithoutCancel(t.Context()))
	must(t, err)
	for i, directory := range []string{"made-1", "made-2"} {
		s.made[i], err = filepath.Abs(filepath.Join("testdata", directory))
		must(t, err)
	}
	bed.BuildComponents(t) // before the cluster uses the processors
	s.Site = bed.NewSite(t, spec, false)
	s.UseComponents(t)
	parts, err := s.Release(t.Context(), newer)
	must(t, err)
	at := slices.IndexFunc(parts.Images, func(image string) bool { return strings.HasPrefix(filepath.Base(image), "busybox") })
	s.busyboxArchive = parts.Images[at]
	begun := time.Now()
	s.Install(t)
	t.Logf("refit install took %.1f s", time.Since(begun).Seconds())
	return s
}

// run runs Helm's CLI, as a user does.
func (s *site) run(t *testing.T, args ...string) []byte {
	t.Helper()
	begun := time.Now()
	out := bed.Run(t, s.helm, append(args, "--kubeconfig="+s.KubeconfigFile())...)
	t.Logf("helm %s: %.1f s", strings.Join(args[:min(2, len(args))], " "), time.Since(begun).Seconds())
	return out
}

// kubectl runs kubectl, which must succeed.
func (s *site) kubectl(t *testing.T, input string, args ...string) []byte {
	t.Helper()
	out, err := s.Kubectl(t.Context(), bytes.NewReader([]byte(input)), args...)
	must(t, err)
	return out
}

// helmRelease is a row of `helm list`.
type helmRelease struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	Revision  string `json:"revision"`
	Status    string `json:"status"`
	Chart     string `json:"chart"`
}

// releases returns what `helm list` shows, by name.
func (s *site) releases(t *testing.T) map[string]helmRelease {
	t.Helper()
	var rows []helmRelease
	must(t, json.Unmarshal(s.run(t, "list", "--all-namespaces", "--output=json"), &rows))
	out := map[string]helmRelease{}
	for _, row := range rows {
		out[row.Name] = row
	}
	return out
}

// has fails unless Helm has a release of a chart, deployed.
func (s *site) has(t *testing.T, release, chart string) {
	t.Helper()
	if got := s.releases(t)[release]; got.Chart != chart || got.Status != "deployed" {
		t.Errorf("helm list shows %+v, want %s", got, chart)
	}
}
