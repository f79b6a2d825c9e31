package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/internal/upgrade/preflight"
)

const (
	examples        = "../../examples"
	exampleSnapshot = examples + "/snapshot.json"
)

func TestTheExampleSnapshotIsUpToDate(t *testing.T) {
	var want bytes.Buffer
	if err := cluster.Encode(&want, exampleCluster()); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(exampleSnapshot, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(exampleSnapshot)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Error("examples/snapshot.json is stale: run go test ./cmd/refit -run ExampleSnapshot -update")
	}
}

func TestTheExampleSnapshotDoesNotExpire(t *testing.T) {
	l := newLine(t)
	l.preflight = preflight.Run
	l.Now = func() time.Time { return clustertest.Now.AddDate(0, 0, 3*365) }
	if code := l.run(t, "check", "--from", exampleSnapshot, "--to", "v1.36.3"); code != 0 || !strings.Contains(l.out.String(), "1,095 days") {
		t.Errorf("exit code %d, want 0 and the age of the Snapshot\n%s%s", code, l.out, l.err)
	}
}

// There is no ClusterRelease for the version of the cluster, which an upgrade to it would need.
func TestCheckAndPlanAgreeThatThereIsNothingToUpgrade(t *testing.T) {
	for _, command := range []string{"check", "plan"} {
		t.Run(command, func(t *testing.T) {
			l := newLine(t)
			l.preflight = preflight.Run
			code := l.run(t, command, "--from", exampleSnapshot, "--to", "v1.35.4")
			if want := "Nothing to upgrade: example is at v1.35.4 already."; code != 0 || !strings.HasPrefix(l.out.String(), want) {
				t.Errorf("exit code %d, want 0 and %q\n%s%s", code, want, l.out, l.err)
			}
			if strings.Contains(l.out.String(), "Next steps") {
				t.Errorf("it has next steps:\n%s", l.out)
			}
		})
	}
}

func TestTheExampleSnapshotCanBePlanned(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"by a version":   {[]string{"--to", "v1.36.3"}, "v1.35.4 → v1.36.3"},
		"with etcd":      {[]string{"--to", "v1.36.3"}, "etcd        3.6.6 → 3.6.8"},
		"with a canary":  {[]string{"-f", filepath.Join(examples, "canary.yaml")}, "canary"},
		"with pools":     {[]string{"-f", filepath.Join(examples, "pools.yaml")}, "gpu"},
		"single node":    {[]string{"-f", filepath.Join(examples, "single-node.yaml")}, "v1.35.4 → v1.36.3"},
		"kept in GitOps": {[]string{"-f", filepath.Join(examples, "gitops", "upgrade.yaml")}, "v1.35.4 → v1.36.3"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLine(t)
			l.preflight = preflight.Run
			code := l.run(t, append([]string{"plan", "--from", exampleSnapshot}, tc.args...)...)
			if code != 0 || !strings.Contains(l.out.String(), tc.want) {
				t.Errorf("exit code %d, want 0 and %q\n%s%s", code, tc.want, l.out, l.err)
			}
		})
	}
}

// exampleCluster has nodes in each pool of examples/pools.yaml.
func exampleCluster() *cluster.Snapshot {
	pool := func(name string) func(*cluster.Node) {
		return func(n *cluster.Node) { n.Labels["example.com/pool"] = name }
	}
	return clustertest.HA("v1.35.4", 3, 5,
		func(s *cluster.Snapshot) { s.Kubeadm.ClusterName = "example" },
		clustertest.OnNode("worker-1", pool("gpu")),
		clustertest.OnNode("worker-2", pool("web")),
		clustertest.OnNode("worker-3", pool("web")),
		clustertest.Agents(),
		clustertest.Released("v1.36.3"),
		func(s *cluster.Snapshot) {
			p := &s.Releases[0].Payload
			p.Etcd, p.CoreDNS, p.Pause, p.Containerd, p.CNIPlugins = "3.6.8-0", "v1.14.2", "3.10.2", "2.4.2", "1.9.1"
		},
		clustertest.Pods(cluster.Workload{Namespace: "training", Kind: "Job", Name: "model"}, map[string]int32{"worker-1": 1}),
		clustertest.Pods(cluster.Workload{Namespace: "shop", Kind: "Deployment", Name: "cart"}, map[string]int32{"worker-2": 2, "worker-3": 2}),
		clustertest.Pods(cluster.Workload{Namespace: "shop", Kind: "StatefulSet", Name: "db"}, map[string]int32{"worker-4": 1, "worker-5": 1}),
		clustertest.Budget("shop", "cart", 1, "cart"),
		clustertest.Budget("shop", "db", 1, "db"),
	)
}
