//go:build e2e

package adoption

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/versions"
)

// upstream are mirrors of one release in the layout of dl.k8s.io, pkgs.k8s.io, registry.k8s.io and
// of the releases of containerd and the CNI plugins, on this machine's end of a cluster's bridge.
type upstream struct {
	url         string
	registry    string // host and port
	fingerprint string // of the key that signs the packages
	// unsigned are the digests of binaries and images: only upstream can sign them. Archives have
	// no signatures at all.
	unsigned []string
}

// newUpstream publishes a release. The servers end with the test.
func newUpstream(t *testing.T, host string, parts builder.Release) *upstream {
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
	u := &upstream{url: serve(t, host, dir), registry: bed.StartRegistry(t, host, t.TempDir()), fingerprint: key.fingerprint, unsigned: binaries}
	u.unsigned = append(u.unsigned, publishArchives(t, dir, parts)...)
	u.push(t, parts.Images)
	return u
}

// mirrors is the user's configuration for these servers.
func (u *upstream) mirrors() string {
	return fmt.Sprintf("downloads: %[1]s/release\ncontainerdDownloads: %[1]s/containerd\ncniDownloads: %[1]s/plugins\n"+
		"packages: %[1]s/core:/stable:/\npackageKeys: [%[2]s]\nimageMirror: http://%[3]s\nacceptDigests: [%[4]s]\n",
		u.url, u.fingerprint, u.registry, strings.Join(u.unsigned, ", "))
}

func serve(t *testing.T, host, dir string) string {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", net.JoinHostPort(host, "0"))
	bed.Must(t, err)
	server := &http.Server{Handler: http.FileServer(http.Dir(dir)), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := server.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("serving mirrors: %v", err)
		}
	}()
	t.Cleanup(func() { _ = server.Close() })
	return "http://" + listener.Addr().String()
}

// publishBinaries writes the layout of dl.k8s.io, and returns the digests.
func publishBinaries(t *testing.T, dir, minor string, parts builder.Release) (digests []string) {
	t.Helper()
	to := filepath.Join(dir, parts.Kubernetes, "bin/linux/amd64")
	bed.Must(t, os.MkdirAll(to, 0o755))
	for _, binary := range []string{"kubeadm", "kubelet", "kubectl"} {
		content, err := os.ReadFile(filepath.Join(parts.Bin, binary))
		bed.Must(t, err)
		sum := sha256.Sum256(content)
		digests = append(digests, "sha256:"+hex.EncodeToString(sum[:]))
		bed.Must(t, os.WriteFile(filepath.Join(to, binary), content, 0o644))
		bed.Must(t, os.WriteFile(filepath.Join(to, binary+".sha256"), []byte(hex.EncodeToString(sum[:])), 0o644))
	}
	bed.Must(t, os.WriteFile(filepath.Join(dir, "stable-"+strings.TrimPrefix(minor, "v")+".txt"), []byte(parts.Kubernetes), 0o644))
	return digests
}

// publishArchives writes the archives of containerd and the CNI plugins as upstream does, with tar
// and sha256sum, and returns their digests.
func publishArchives(t *testing.T, dir string, parts builder.Release) (digests []string) {
	t.Helper()
	containerd, cni := versions.ContainerdRelease, versions.CNIPlugins
	for _, a := range []struct {
		from, name, to, checksum, prefix string
	}{
		{parts.ContainerdBin, "containerd-" + containerd + "-linux-amd64.tar.gz", "containerd/v" + containerd, ".sha256sum", "bin"},
		{parts.CNIBin, "cni-plugins-linux-amd64-" + cni + ".tgz", "plugins/" + cni, ".sha256", "."},
	} {
		to := filepath.Join(dir, a.to)
		bed.Must(t, os.MkdirAll(to, 0o755))
		run(t, a.from, "tar", "--create", "--gzip", "--transform", "s,^[.],"+a.prefix+",", "--file", filepath.Join(to, a.name), ".")
		sum := run(t, to, "sha256sum", a.name)
		bed.Must(t, os.WriteFile(filepath.Join(to, a.name+a.checksum), sum, 0o644))
		digests = append(digests, "sha256:"+strings.Fields(string(sum))[0])
	}
	return digests
}

// publishDebs writes a repository with apt-ftparchive.
func publishDebs(t *testing.T, dir string, key *key, debs []string) {
	t.Helper()
	copyTo(t, filepath.Join(dir, "amd64"), debs)
	list := run(t, dir, "apt-ftparchive", "packages", ".")
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, err := w.Write(list)
	bed.Must(t, errors.Join(err, w.Close()))
	bed.Must(t, os.WriteFile(filepath.Join(dir, "Packages"), list, 0o644))
	bed.Must(t, os.WriteFile(filepath.Join(dir, "Packages.gz"), zipped.Bytes(), 0o644))
	unsigned := filepath.Join(t.TempDir(), "Release")
	bed.Must(t, os.WriteFile(unsigned, run(t, dir, "apt-ftparchive", "release", "."), 0o644))
	key.gpg(t, "--output", filepath.Join(dir, "InRelease"), "--clearsign", unsigned)
	bed.Must(t, os.WriteFile(filepath.Join(dir, "Release.key"), key.gpg(t, "--armor", "--export"), 0o644))
}

// publishRpms writes a repository with createrepo_c.
func publishRpms(t *testing.T, dir string, key *key, rpms []string) {
	t.Helper()
	copyTo(t, filepath.Join(dir, "x86_64"), rpms)
	run(t, dir, "createrepo_c", "--quiet", ".")
	metadata := filepath.Join(dir, "repodata", "repomd.xml")
	key.gpg(t, "--armor", "--output", metadata+".asc", "--detach-sign", metadata)
	bed.Must(t, os.WriteFile(metadata+".key", key.gpg(t, "--armor", "--export"), 0o644))
}

// push pushes archives of images under their names.
func (u *upstream) push(t *testing.T, archives []string) {
	t.Helper()
	for _, archive := range archives {
		if strings.HasPrefix(filepath.Base(archive), "busybox") { // only for the testbed
			continue
		}
		manifest, err := tarball.LoadManifest(func() (io.ReadCloser, error) { return os.Open(archive) })
		bed.Must(t, err)
		for _, tag := range manifest[0].RepoTags {
			from, err := name.NewTag(tag)
			bed.Must(t, err)
			image, err := tarball.ImageFromPath(archive, &from)
			bed.Must(t, err)
			to, err := name.NewTag(u.registry+"/"+from.RepositoryStr()+":"+from.TagStr(), name.Insecure)
			bed.Must(t, err)
			bed.Must(t, remote.Write(to, image, remote.WithContext(t.Context())))
			digest, err := image.Digest()
			bed.Must(t, err)
			u.unsigned = append(u.unsigned, digest.String())
		}
	}
}

// key is an OpenPGP key of gpg.
type key struct{ home, fingerprint string }

func newKey(t *testing.T) *key {
	t.Helper()
	home, err := os.MkdirTemp("", "adoption-gpg-") //nolint:usetesting // the path of a socket must be short
	bed.Must(t, err)
	k := &key{home: home}
	t.Cleanup(func() {
		_ = exec.Command("gpgconf", "--homedir", home, "--kill", "gpg-agent").Run() // it ends with its directory, too
		_ = os.RemoveAll(home)
	})
	k.gpg(t, "--quick-generate-key", "Packages <packages@example.com>", "rsa2048", "sign", "0")
	for line := range strings.Lines(string(k.gpg(t, "--with-colons", "--list-keys"))) {
		if fields := strings.Split(line, ":"); fields[0] == "fpr" {
			k.fingerprint = fields[9]
		}
	}
	return k
}

func (k *key) gpg(t *testing.T, args ...string) []byte {
	t.Helper()
	return run(t, k.home, append([]string{"gpg", "--homedir", k.home, "--batch", "--yes", "--pinentry-mode", "loopback", "--passphrase", ""}, args...)...)
}

// run runs a tool in a directory and returns its output.
func run(t *testing.T, dir string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = dir
	var failed strings.Builder
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, failed.String())
	}
	return out
}

func copyTo(t *testing.T, dir string, files []string) {
	t.Helper()
	bed.Must(t, os.MkdirAll(dir, 0o755))
	for _, file := range files {
		content, err := os.ReadFile(file)
		bed.Must(t, err)
		bed.Must(t, os.WriteFile(filepath.Join(dir, filepath.Base(file)), content, 0o644))
	}
}
