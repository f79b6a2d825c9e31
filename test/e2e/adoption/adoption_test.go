//go:build e2e

package adoption

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// TestAdoption upgrades a cluster of each kind of hosts with two commands. Everything that the
// hosts install comes from upstream.
func TestAdoption(t *testing.T) {
	for _, kind := range []string{builder.InstallDeb, builder.InstallRpm, builder.InstallBinaries} {
		t.Run(kind, func(t *testing.T) {
			s := bed.NewSite(t, cluster.Spec{
				Name: "adopt" + kind[:3], ControlPlanes: 3, Workers: 2, Kubernetes: bed.Older, Install: kind, Containerd: builder.ContainerdBuilt,
			}, false)
			parts, err := s.Release(t.Context(), bed.Newer)
			bed.Must(t, err)
			u := newUpstream(t, s.Gateway().String(), parts)
			bed.OnNodes(t, s.Nodes(), u.useRegistry)
			user := newUser(t, s, u)

			sampling := s.StartSampling(t)
			begun := time.Now()
			user.types(t, "refit install", "") // no passphrase for the new key
			installed := time.Now()
			user.types(t, "refit upgrade --to v1.36", "yes", "yes", "yes") // create, sign, upgrade
			bed.Show(t, "adoption_"+kind+"_commands", float64(user.commands), "commands")
			bed.Show(t, "adoption_"+kind+"_install", installed.Sub(begun).Seconds(), "s")
			bed.Show(t, "adoption_"+kind+"_total", time.Since(begun).Seconds(), "s")
			sampling.End(t, "adoption_"+kind)

			bed.Must(t, s.RecordRelease(parts))
			isAt(t, s)
			s.NoCordonLeft(t)
			bed.Must(t, s.Smoke(t.Context()))
		})
	}
}

// isAt fails unless every node has the new version.
func isAt(t *testing.T, s *bed.Site) {
	t.Helper()
	nodes, err := s.Kubectl(t.Context(), nil, "get", "nodes", "-o", `jsonpath={range .items[*]}{.status.nodeInfo.kubeletVersion}{"\n"}{end}`)
	bed.Must(t, err)
	if got, want := strings.Count(string(nodes), bed.Newer+"\n"), len(s.Nodes()); got != want {
		t.Errorf("%d of %d nodes are at %s:\n%s", got, want, bed.Newer, nodes)
	}
}

// useRegistry lets containerd pull images of registry.k8s.io from the mirror, as hosts behind one
// are configured.
func (u *upstream) useRegistry(ctx context.Context, n *cluster.Node) error {
	const config = "/etc/containerd/config.toml"
	text, err := bed.ReadOn(ctx, n, config)
	if err != nil {
		return err
	}
	text += "\n[plugins.'io.containerd.cri.v1.images'.registry]\n  config_path = '/etc/containerd/certs.d'\n"
	hosts := fmt.Sprintf("server = 'https://registry.k8s.io'\n\n[host.'http://%s']\n  capabilities = ['pull', 'resolve']\n", u.registry)
	_, made := n.Exec(ctx, "mkdir", "-p", "/etc/containerd/certs.d/registry.k8s.io")
	if err := errors.Join(made, bed.WriteOn(ctx, n, "/etc/containerd/certs.d/registry.k8s.io/hosts.toml", hosts), bed.WriteOn(ctx, n, config, text)); err != nil {
		return err
	}
	_, err = n.Exec(ctx, "systemctl", "restart", "containerd")
	return err
}

// user is somebody with the CLI, a kubeconfig, and mirrors of upstream in the configuration.
type user struct {
	environment []string
	commands    int
}

func newUser(t *testing.T, s *bed.Site, u *upstream) *user {
	t.Helper()
	home := t.TempDir()
	settings := filepath.Join(home, ".config/refit")
	bed.Must(t, os.MkdirAll(settings, 0o700))
	bed.Must(t, os.WriteFile(filepath.Join(settings, "upstream.yaml"), []byte(u.mirrors()), 0o600))
	return &user{environment: append(os.Environ(),
		"PATH="+filepath.Dir(s.Refit)+":"+os.Getenv("PATH"), "HOME="+home, "XDG_CONFIG_HOME=", "KUBECONFIG="+s.KubeconfigFile(), "TERM=xterm", "COLUMNS=120",
	)}
}

// types runs a command on a terminal, answers its prompts, and logs the transcript.
func (u *user) types(t *testing.T, command string, answers ...string) {
	t.Helper()
	u.commands++
	ctx, cancel := context.WithTimeout(t.Context(), bed.Whole)
	defer cancel()
	cmd := exec.CommandContext(ctx, "script", "--quiet", "--return", "--flush", "--command", command, "/dev/null")
	cmd.Env, cmd.Stdin = u.environment, strings.NewReader(strings.Join(answers, "\n")+"\n")
	output := &bed.Output{Line: func(line string) { t.Log(strings.TrimRight(line, "\r")) }}
	cmd.Stdout, cmd.Stderr = output, output
	t.Logf("$ %s", command)
	bed.Must(t, cmd.Run())
}
