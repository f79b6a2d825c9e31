//go:build e2e

package serve

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

const (
	unit      = "refit-serve"
	directory = "/etc/refit-serve"
	port      = "8443"
	examples  = "../../../examples/serve"
)

// start runs `refit serve` on a node as docs/serve.md describes, with the files of examples/serve,
// and returns its URL. Its kubeconfig names the endpoint of the cluster.
func start(t *testing.T, s *bed.Site, n *cluster.Node) string {
	t.Helper()
	return startAt(t, s, n, s.Endpoint())
}

// startAt runs it with a kubeconfig that names another API server.
func startAt(t *testing.T, s *bed.Site, n *cluster.Node, server string) string {
	t.Helper()
	ctx := t.Context()
	bed.Must(t, n.CopyTo(ctx, bed.BuildPages(t), "/usr/local/bin/refit"))
	_, err := n.Exec(ctx, "mkdir", "--parents", "/etc/sysusers.d")
	bed.Must(t, err)
	bed.Must(t, n.CopyTo(ctx, filepath.Join(examples, "refit-serve.sysusers"), "/etc/sysusers.d/refit-serve.conf"))
	bed.Must(t, n.CopyTo(ctx, filepath.Join(examples, "refit-serve.service"), "/etc/systemd/system/refit-serve.service"))
	rbac, err := os.ReadFile(filepath.Join(examples, "rbac.yaml"))
	bed.Must(t, err)
	_, err = s.Kubectl(ctx, bytes.NewReader(rbac), "apply", "--filename=-")
	bed.Must(t, err)
	token := tokenOf(t, s)
	run := func(argv ...string) {
		_, err := n.Exec(ctx, argv...)
		bed.Must(t, err)
	}
	const config = "--kubeconfig=" + directory + "/kubeconfig"
	run("systemd-sysusers")
	bed.Must(t, bed.WriteOn(ctx, n, directory+"/env", "ALLOWED_HOST="+n.Address().String()+"\n"))
	run("install", "--directory", "--mode=0750", "--owner=root", "--group="+unit, directory)
	run("kubectl", "config", config, "set-cluster", "serve", "--server=https://"+server, "--certificate-authority=/etc/kubernetes/pki/ca.crt", "--embed-certs")
	run("kubectl", "config", config, "set-credentials", unit, "--token="+token)
	run("kubectl", "config", config, "set-context", "serve", "--cluster=serve", "--user="+unit)
	run("kubectl", "config", config, "use-context", "serve")
	run("chown", unit+":"+unit, directory+"/kubeconfig")
	run("systemctl", "restart", bed.AgentUnit) // its socket belongs to the new group
	run("systemctl", "daemon-reload")
	run("systemctl", "enable", "--now", unit)
	t.Cleanup(func() {
		if t.Failed() {
			var log strings.Builder
			_ = n.Journal(context.WithoutCancel(ctx), &log, cluster.JournalOptions{Unit: unit, Lines: 80})
			t.Logf("the log of refit serve:\n%s", log.String())
		}
	})
	url := "https://" + n.Address().String() + ":" + port
	bed.Must(t, bed.Until(ctx, "refit serve to answer", bed.CheckTimeout, func(ctx context.Context) error {
		return exec.CommandContext(ctx, "curl", "--silent", "--fail", "--insecure", "--max-time", "5", url+"/readyz").Run()
	}))
	return url
}

// tokenOf returns the token of the service.
func tokenOf(t *testing.T, s *bed.Site) (token string) {
	t.Helper()
	bed.Must(t, bed.Until(t.Context(), "the token of the service", bed.CheckTimeout, func(ctx context.Context) error {
		encoded, err := s.Kubectl(ctx, nil, "--namespace=refit-system", "get", "secret", "refit-serve", "--output=go-template={{.data.token}}")
		if err != nil {
			return err
		}
		raw, err := base64.StdEncoding.DecodeString(string(encoded))
		token = string(raw)
		return err
	}))
	return token
}

// blocked are rules that refuse what leaves the testbed, and count what the server sends there.
const blocked = `table inet blocked {
	chain output {
		type filter hook output priority 0;
		ip daddr != { 10.0.0.0/8, 127.0.0.0/8 } meta skuid ` + unit + ` counter reject
		ip daddr != { 10.0.0.0/8, 127.0.0.0/8 } reject
	}
}
`

// blockOutgoing refuses all connections of a node to other networks, and fails at the end if the
// server has tried one.
func blockOutgoing(t *testing.T, n *cluster.Node) {
	t.Helper()
	ctx := t.Context()
	bed.Must(t, bed.WriteOn(ctx, n, "/root/blocked.nft", blocked))
	_, err := n.Exec(ctx, "nft", "--file", "/root/blocked.nft")
	bed.Must(t, err)
	t.Cleanup(func() {
		raw, err := n.Exec(context.WithoutCancel(ctx), "nft", "--json", "list", "table", "inet", "blocked")
		bed.Must(t, err)
		var table struct {
			NFTables []struct {
				Rule struct {
					Expr []struct {
						Counter *struct {
							Packets int `json:"packets"`
						} `json:"counter"`
					} `json:"expr"`
				} `json:"rule"`
			} `json:"nftables"`
		}
		bed.Must(t, json.Unmarshal(raw, &table))
		counters := 0
		for _, object := range table.NFTables {
			for _, e := range object.Rule.Expr {
				if e.Counter != nil {
					counters++
					bed.Show(t, "serve_packets_to_other_networks", float64(e.Counter.Packets), "packets")
					if e.Counter.Packets > 0 {
						t.Error("the server has sent packets to other networks")
					}
				}
			}
		}
		if counters != 1 {
			t.Errorf("%d rules count packets, want 1", counters)
		}
	})
}
