//go:build e2e

package components

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// liqo is the name of the component, of its Helm release and of its namespace.
const liqo = "liqo"

// notRunning are the images of Liqo that no pod runs: those of gateways, and of its removal. They
// would fill the disk of the machine.
var notRunning = []string{"gateway.tar", "geneve.tar", "wireguard.tar", "uninstaller.tar"}

// running returns the archives of the images that pods of an add-on run.
func running(addon builder.Addon) []string {
	return slices.DeleteFunc(slices.Clone(addon.Archives), func(archive string) bool {
		return slices.Contains(notRunning, filepath.Base(archive))
	})
}

// liqoFile returns the file of the publisher of Liqo.
func liqoFile(t *testing.T, addon builder.Addon) []byte {
	t.Helper()
	file, err := template.ParseFiles("testdata/liqo.yaml")
	must(t, err)
	var out bytes.Buffer
	must(t, file.Option("missingkey=error").Execute(&out, map[string]string{"Chart": addon.Chart, "Tag": tagOf(addon)}))
	return out.Bytes()
}

// liqoValues returns the user's values of a cluster.
func liqoValues(c *cluster.Cluster) map[string]any {
	return map[string]any{
		"discovery": map[string]any{"config": map[string]any{"clusterID": c.Name()}},
		"apiServer": map[string]any{"address": "https://" + c.Endpoint()},
		"ipam":      map[string]any{"podCIDR": c.PodSubnet().String(), "serviceCIDR": c.ServiceSubnet().String()},
	}
}

// installLiqo installs Liqo in a cluster with Helm, as a user does.
func (s *site) installLiqo(t *testing.T, c *cluster.Cluster, addon builder.Addon) {
	t.Helper()
	values := filepath.Join(t.TempDir(), "values.json")
	text, err := json.Marshal(liqoValues(c))
	must(t, err)
	must(t, os.WriteFile(values, text, 0o644))
	bed.Run(t, s.helm, "install", liqo, addon.Chart, "--namespace="+liqo, "--create-namespace", "--wait", "--timeout=5m", "--kubeconfig="+c.KubeconfigFile(),
		"--values="+values, "--set=tag="+tagOf(addon), "--set=metricAgent.enabled=false,telemetry.enabled=false")
}

// adoptLiqo writes the user's Component of Liqo, with the versions of its peers by name.
func (s *site) adoptLiqo(t *testing.T, values map[string]any, peers ...string) {
	t.Helper()
	spec := map[string]any{"adopt": true, "values": values}
	var named []any
	for _, peer := range peers {
		name, version, _ := strings.Cut(peer, "=")
		named = append(named, map[string]any{"name": name, "version": version})
	}
	if len(named) > 0 {
		spec["peers"] = named
	}
	object, err := json.Marshal(map[string]any{
		"apiVersion": "refit.dev/v1alpha1", "kind": "Component", "metadata": map[string]any{"name": liqo}, "spec": spec,
	})
	must(t, err)
	s.kubectl(t, string(object), "apply", "--server-side", "--filename=-")
}

// blockedBy fails unless the plan is blocked by a check of Liqo, which names the peer.
func (s *site) blockedBy(t *testing.T, check, peer string) {
	t.Helper()
	s.offered(t, liqo)
	plan := s.Refused(t, bed.ExitBlocked, "plan", "--to", newer)
	t.Log(plan)
	must(t, mentions(plan, check, peer))
	for _, other := range []string{"PeerUnknown", "PeerIncompatible"} {
		if other != check && strings.Contains(plan, other) {
			t.Errorf("the plan is also blocked by %s", other)
		}
	}
}

// brokenHandler returns the user's values with one that the API server refuses in the last wave of
// the upgrade, so that everything before it is rolled back.
func brokenHandler(c *cluster.Cluster) map[string]any {
	values := liqoValues(c)
	values["offloading"] = map[string]any{"runtimeClass": map[string]any{"handler": fmt.Sprintf("Not_%s", liqo)}}
	return values
}

// liqoComponentsFile writes the file of the publisher of Liqo alone.
func (s *site) liqoComponentsFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "components.yaml")
	must(t, os.WriteFile(file, liqoFile(t, s.after[liqo]), 0o644))
	return file
}
