package upstream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// Upstream are mirrors of one release, on this machine's end of a cluster's bridge.
type Upstream struct {
	url         string
	registry    string // host and port
	fingerprint string // of the key that signs the packages
	// unsigned are the digests of binaries and images: only upstream can sign them. Archives have
	// no signatures at all.
	unsigned []string
}

// New publishes a release. Images are pushed to a registry, which is its host and port. The servers
// end with the test.
func New(t *testing.T, host, registry string, parts builder.Release) *Upstream {
	t.Helper()
	dir := t.TempDir()
	key := newKey(t)
	minor := parts.Kubernetes[:strings.LastIndex(parts.Kubernetes, ".")]
	binaries := publishBinaries(t, filepath.Join(dir, "release"), minor, parts)
	repositories := filepath.Join(dir, "core:", "stable:", minor)
	publishDebs(t, filepath.Join(repositories, "deb"), key, parts.Debs)
	if len(parts.Rpms) > 0 {
		publishRpms(t, filepath.Join(repositories, "rpm"), key, parts.Rpms)
	}
	u := &Upstream{url: serve(t, host, http.FileServer(http.Dir(dir))), registry: registry, fingerprint: key.fingerprint, unsigned: binaries}
	u.unsigned = append(u.unsigned, publishArchives(t, dir, parts)...)
	u.push(t, parts.Images)
	return u
}

// Configuration is the user's upstream.yaml for these servers.
func (u *Upstream) Configuration() string {
	return fmt.Sprintf("downloads: %[1]s/release\ncontainerdDownloads: %[1]s/containerd\ncniDownloads: %[1]s/plugins\n"+
		"packages: %[1]s/core:/stable:/\npackageKeys: [%[2]s]\nimageMirror: http://%[3]s\nacceptDigests: [%[4]s]\n",
		u.url, u.fingerprint, u.registry, strings.Join(u.unsigned, ", "))
}

// Flags are the same as flags of `refit release add`.
func (u *Upstream) Flags() []string {
	flags := []string{
		"--online", "--downloads", u.url + "/release", "--packages", u.url + "/core:/stable:/", "--package-key", u.fingerprint,
		"--image-mirror", "http://" + u.registry,
	}
	for _, digest := range u.unsigned {
		flags = append(flags, "--accept-digest", digest)
	}
	return flags
}

// UseRegistry lets containerd on a node pull images of registry.k8s.io from the mirror, as hosts
// behind one are configured.
func (u *Upstream) UseRegistry(ctx context.Context, n *cluster.Node) error {
	const (
		config    = "/etc/containerd/config.toml"
		directory = "/etc/containerd/certs.d/registry.k8s.io"
	)
	text, err := bed.ReadOn(ctx, n, config)
	if err != nil {
		return err
	}
	text += "\n[plugins.'io.containerd.cri.v1.images'.registry]\n  config_path = '/etc/containerd/certs.d'\n"
	hosts := fmt.Sprintf("server = 'https://registry.k8s.io'\n\n[host.'http://%s']\n  capabilities = ['pull', 'resolve']\n", u.registry)
	_, made := n.Exec(ctx, "mkdir", "-p", directory)
	if err := errors.Join(made, bed.WriteOn(ctx, n, directory+"/hosts.toml", hosts), bed.WriteOn(ctx, n, config, text)); err != nil {
		return err
	}
	_, err = n.Exec(ctx, "systemctl", "restart", "containerd")
	return err
}
