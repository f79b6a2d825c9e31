package upstream

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/versions"
)

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
