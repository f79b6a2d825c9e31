package cluster

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/refit-dev/refit/test/testbed/machine"
)

// Diagnose writes information about an unhealthy cluster: its nodes and Pods according to the API,
// and the last log lines of each kubelet.
func (c *Cluster) Diagnose(ctx context.Context, out io.Writer) {
	for _, args := range [][]string{
		{"get", "nodes", "--output=wide"},
		{"get", "pods", "--all-namespaces", "--output=wide"},
	} {
		text, err := c.kubectlQuick(ctx, args)
		if err != nil {
			text = []byte(err.Error())
		}
		fmt.Fprintf(out, "%s\n", text)
	}
	for _, n := range c.Nodes() {
		if _, err := os.Stat(n.dir()); err != nil {
			continue // it was never created
		}
		fmt.Fprintf(out, "%s is %s; the log of its kubelet ends with:\n", n.Name(), n.State())
		if err := n.Journal(ctx, out, JournalOptions{Unit: "kubelet", Lines: 15}); err != nil {
			fmt.Fprintln(out, err)
		}
	}
}

// kubectlQuick runs kubectl with a short timeout: the API of a broken cluster may hang.
func (c *Cluster) kubectlQuick(ctx context.Context, args []string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, machine.Timeout(15*time.Second))
	defer cancel()
	return c.Kubectl(ctx, nil, append(args, "--request-timeout="+machine.Timeout(10*time.Second).String())...)
}

// Gone reports whether the cluster has been removed.
func (c *Cluster) Gone() bool {
	_, err := os.Stat(c.dir())
	return os.IsNotExist(err)
}
