//go:build e2e

package adoption

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/e2e/upstream"
	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/cluster"
	"github.com/refit-dev/refit/test/testbed/versions"
)

// TestAdoption upgrades a cluster of each kind of hosts with two commands, and with a third one
// that also upgrades containerd and the CNI plugins where they are plain files. Everything that the
// hosts install comes from upstream.
func TestAdoption(t *testing.T) {
	for _, kind := range []string{builder.InstallDeb, builder.InstallRpm, builder.InstallBinaries} {
		t.Run(kind, func(t *testing.T) {
			s := bed.NewSite(t, cluster.Spec{
				Name: "adopt" + kind[:3], ControlPlanes: 3, Workers: 2, Kubernetes: bed.Older, Install: kind, Containerd: builder.ContainerdBuilt,
			}, false)
			parts, err := s.Release(t.Context(), bed.Newer)
			bed.Must(t, err)
			host := s.Gateway().String()
			u := upstream.New(t, host, bed.StartRegistry(t, host, t.TempDir()), parts)
			bed.OnNodes(t, s.Nodes(), u.UseRegistry)
			user := newUser(t, s, u)
			if kind == builder.InstallBinaries {
				bed.OnNodes(t, s.Nodes(), alter)
			}

			begun := time.Now()
			user.types(t, "refit install", "") // no passphrase for the new key
			install := time.Since(begun)
			sampling := s.StartSampling(t) // not before: here all hosts unpack Refit's image on the same few cores
			begun = time.Now()
			if kind == builder.InstallBinaries { // with containerd and the CNI plugins, from their archives
				user.types(t, fmt.Sprintf("refit release add %s --online --containerd %s --cni-plugins %s", bed.Newer, versions.ContainerdRelease, versions.CNIPlugins), "yes")
				user.types(t, "refit upgrade --to v1.36", "yes")
			} else {
				user.types(t, "refit upgrade --to v1.36", "yes", "yes", "yes") // create, sign, upgrade
			}
			bed.Show(t, "adoption_"+kind+"_commands", float64(user.commands), "commands")
			bed.Show(t, "adoption_"+kind+"_install", install.Seconds(), "s")
			bed.Show(t, "adoption_"+kind+"_total", (install + time.Since(begun)).Seconds(), "s")
			sampling.End(t, "adoption_"+kind)

			bed.Must(t, s.RecordRelease(parts))
			isAt(t, s)
			if kind == builder.InstallBinaries {
				bed.OnNodes(t, s.Nodes(), func(ctx context.Context, n *cluster.Node) error { return fromArchives(ctx, n, parts) })
			}
			s.NoCordonLeft(t)
			bed.Must(t, s.Smoke(t.Context()))
		})
	}
}

// The binaries of the hosts that are not those of the archives, and a plugin that they do not have.
const (
	ctrPath      = "/usr/local/bin/ctr"
	loopbackPath = "/opt/cni/bin/loopback"
	absentPlugin = "/opt/cni/bin/firewall"
)

// alter gives a host other binaries than those in the archives, of the same version: both still
// run.
func alter(ctx context.Context, n *cluster.Node) error {
	_, err := n.Exec(ctx, "truncate", "--size=+1", ctrPath, loopbackPath)
	_, removed := n.Exec(ctx, "rm", "--force", absentPlugin)
	return errors.Join(err, removed)
}

// fromArchives fails unless a host has the binaries of the archives, and no plugin that it did not
// have.
func fromArchives(ctx context.Context, n *cluster.Node, parts builder.Release) error {
	for path, from := range map[string]string{ctrPath: parts.ContainerdBin, loopbackPath: parts.CNIBin} {
		content, err := os.ReadFile(filepath.Join(from, filepath.Base(path)))
		if err != nil {
			return err
		}
		out, err := n.Exec(ctx, "sha256sum", path)
		if want := fmt.Sprintf("%x", sha256.Sum256(content)); err != nil || !strings.HasPrefix(string(out), want) {
			return fmt.Errorf("%s of %s has the digest %s, want %s: %w", path, n.Name(), out, want, err)
		}
	}
	if _, err := n.Exec(ctx, "test", "!", "-e", absentPlugin); err != nil {
		return fmt.Errorf("%s got %s, which it did not have: %w", n.Name(), absentPlugin, err)
	}
	return nil
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

// user is somebody with the CLI, a kubeconfig, and mirrors of upstream in the configuration.
type user struct {
	environment []string
	commands    int
}

func newUser(t *testing.T, s *bed.Site, u *upstream.Upstream) *user {
	t.Helper()
	home := t.TempDir()
	settings := filepath.Join(home, ".config/refit")
	bed.Must(t, os.MkdirAll(settings, 0o700))
	bed.Must(t, os.WriteFile(filepath.Join(settings, "upstream.yaml"), []byte(u.Configuration()), 0o600))
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
