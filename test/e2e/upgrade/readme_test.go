//go:build e2e

package upgrade

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

const (
	readme = "../../../README.md"
	// readmeMark precedes each block of README that is run.
	readmeMark = "<!-- run by TestUpgradeReadme -->\n```bash\n"
	// readmeCluster is the cluster that README creates.
	readmeCluster = "demo"
)

// TestUpgradeReadme runs the blocks of README verbatim, from an empty testbed: key, ClusterRelease,
// install, check, plan, upgrade. A workload is deployed between the blocks.
func TestUpgradeReadme(t *testing.T) {
	blocks := readmeBlocks(t)
	if len(blocks) != 2 {
		t.Fatalf("README has %d blocks to run, want one that prepares and one that upgrades", len(blocks))
	}
	t.Cleanup(func() { takeDown(t) })
	shop := filepath.Join(t.TempDir(), "shop.yaml")
	must(t, os.WriteFile(shop, shopOf(t, true, false), 0o644))
	begun := time.Now()
	follow(t, blocks[0]+"\nkubectl apply -f "+shop+"\nkubectl -n shop rollout status deployment/cart statefulset/db daemonset/logs\n"+blocks[1])
	show(t, "upgrade_readme", time.Since(begun).Seconds(), "s")

	c, err := testbed.New(t).Cluster(readmeCluster)
	must(t, err)
	must(t, c.WaitReady(t.Context(), recovery))
	client, err := c.Client()
	must(t, err)
	nodes, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	must(t, err)
	if len(nodes.Items) != 5 {
		t.Errorf("README makes %d nodes, want 3 and 2", len(nodes.Items))
	}
	for _, n := range nodes.Items {
		if n.Status.NodeInfo.KubeletVersion != newer || !cluster.NodeReady(n) || n.Spec.Unschedulable {
			t.Errorf("%s is at %s, ready %t, cordoned %t", n.Name, n.Status.NodeInfo.KubeletVersion, cluster.NodeReady(n), n.Spec.Unschedulable)
		}
	}
	must(t, c.Smoke(t.Context()))
}

// readmeBlocks returns the marked blocks of README.
func readmeBlocks(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(readme)
	must(t, err)
	var blocks []string
	for _, part := range strings.Split(string(text), readmeMark)[1:] {
		block, _, closed := strings.Cut(part, "\n```\n")
		if !closed {
			t.Fatal("a block of README does not end")
		}
		blocks = append(blocks, block)
	}
	return blocks
}

// follow runs a script in the repository's root on a terminal, and answers its only prompt with
// yes.
func follow(t *testing.T, script string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "readme.sh")
	must(t, os.WriteFile(file, []byte("set -eux -o pipefail\n"+script+"\n"), 0o644))
	// kubectl has the version that the testbed builds.
	parts, err := testbed.Builder(t).Release(t.Context(), older)
	must(t, err)
	cmd := exec.CommandContext(t.Context(), "script", "--quiet", "--return", "--flush", "--command", "bash "+file, "/dev/null")
	cmd.Dir = "../../.."
	cmd.Env = append(os.Environ(), "PATH="+parts.Bin+":"+os.Getenv("PATH"), "TERM=xterm", "COLUMNS=120", "XDG_CONFIG_HOME="+t.TempDir())
	cmd.Stdin = strings.NewReader("\nyes\nyes\n") // no passphrase for the new key; add the ClusterRelease; upgrade
	said := &bed.Output{Line: func(line string) { t.Log(strings.TrimRight(line, "\r")) }}
	cmd.Stdout, cmd.Stderr = said, said
	must(t, cmd.Run())
}

// takeDown removes README's cluster.
func takeDown(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), checkTimeout)
	defer cancel()
	c, err := testbed.New(t).Cluster(readmeCluster)
	if errors.Is(err, cluster.ErrNotFound) {
		return
	}
	must(t, err)
	if t.Failed() {
		var text bytes.Buffer
		c.Diagnose(ctx, &text)
		t.Log(text.String())
	}
	if err := c.Down(ctx); err != nil {
		t.Error(err)
	}
}
