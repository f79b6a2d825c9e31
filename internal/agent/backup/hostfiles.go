package backup

import (
	"archive/tar"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// maxHostFile bounds the size of one file of the host.
const maxHostFile = 4 << 20

// hostPaths are the files and directories that a restore needs besides etcd: certificates,
// kubeconfigs, static pod manifests, and the configuration of the kubelet.
var hostPaths = []string{"etc/kubernetes", "var/lib/kubelet/config.yaml", "var/lib/kubelet/kubeadm-flags.env"}

// PathsOf returns the paths of a host whose API servers have these manifests. One that cannot be
// parsed adds none.
func PathsOf(servers ...[]byte) backup.HostPaths {
	var all backup.HostPaths
	for _, path := range hostPaths {
		all = append(all, "/"+path)
	}
	for _, server := range servers {
		files, _ := flagFiles(server) // an API server without a valid manifest has no files
		for _, path := range files {
			all = append(all, "/"+path)
		}
	}
	return all
}

// WriteHostFiles writes an archive of the host's files below a root, and of the files that flags of
// the API server name, such as the encryption configuration.
func WriteHostFiles(to io.Writer, root string) error {
	server, err := os.ReadFile(filepath.Join(root, "etc/kubernetes/manifests/kube-apiserver.yaml"))
	if err != nil {
		return err
	}
	paths, err := flagFiles(server)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(&limited{to, backup.MaxHostFiles})
	written := map[string]bool{backup.KubeadmTemp: true}
	for _, path := range paths {
		if err := required(root, path); err != nil {
			return err
		}
	}
	for _, path := range append(slices.Clone(hostPaths), paths...) {
		if err := addTree(archive, root, path, written, 0); err != nil {
			return err
		}
	}
	return archive.Close()
}

// limited fails instead of writing an archive that a restore could not read.
type limited struct {
	to   io.Writer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, fmt.Errorf("the files of the host have more than %d MiB: move what is no configuration out of /etc/kubernetes", backup.MaxHostFiles>>20)
	}
	return l.to.Write(p)
}

// required returns an error for a file that a flag of the API server names and that a backup would
// lack.
func required(root, path string) error {
	if node.Hidden("/" + path) {
		return fmt.Errorf("a flag of the API server names /%s, and the agent cannot see /tmp and /var/tmp of its host: move the file", path)
	}
	if _, err := os.Stat(filepath.Join(root, path)); err != nil {
		return fmt.Errorf("a flag of the API server names /%s: %w", path, err)
	}
	return nil
}

// flagFiles returns the paths on the host of the files that flags of the API server name.
func flagFiles(server []byte) ([]string, error) {
	manifest, err := kubeadm.Parse(server)
	if err != nil {
		return nil, err
	}
	var out []string
	for flag, values := range manifest.Flags {
		if slices.Contains(writtenByServer, flag) {
			continue
		}
		for _, value := range values {
			for _, file := range filesIn(flag, value) {
				if path := onHost(manifest.Mounts, file); path != "" {
					out = append(out, strings.TrimPrefix(path, "/"))
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// writtenByServer are the flags that name files which the API server writes.
var writtenByServer = []string{"audit-log-path", "cert-dir", "debug-socket-path"}

// filesIn returns the files that a value of a flag can name.
func filesIn(flag, value string) []string {
	if flag != "tls-sni-cert-key" {
		return []string{value}
	}
	files, _, _ := strings.Cut(value, ":") // the names of the certificate follow
	return strings.Split(files, ",")
}

// onHost returns the path on the host of a file in the container, or "" if it is not in a hostPath.
func onHost(mounts []kubeadm.Mount, file string) string {
	best, host := "", ""
	for _, mount := range mounts {
		rest, below := strings.CutPrefix(file, mount.Path)
		if below && (rest == "" || rest[0] == '/') && len(mount.Path) > len(best) {
			best, host = mount.Path, ""
			if filepath.IsAbs(mount.HostPath) {
				host = filepath.Join(mount.HostPath, rest)
			}
		}
	}
	return host
}

// maxDepth bounds the depth of directories, in case a symbolic link leads to its own parent.
const maxDepth = 16

// addTree adds a file or a directory. It follows symbolic links: a restore needs the content. A
// path that does not exist is left out, because hosts differ.
func addTree(archive *tar.Writer, root, path string, written map[string]bool, depth int) error {
	name := filepath.Join(root, path)
	info, err := os.Stat(name)
	switch {
	case os.IsNotExist(err) || written[path]:
		return nil
	case err != nil:
		return err
	case depth > maxDepth:
		return fmt.Errorf("%s is nested too deeply", name)
	}
	written[path] = true
	switch {
	case info.Mode().IsRegular():
		return addFile(archive, name, path, info)
	case !info.IsDir():
		return nil // a socket
	}
	entries, err := os.ReadDir(name)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := addTree(archive, root, filepath.Join(path, entry.Name()), written, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func addFile(archive *tar.Writer, name, path string, info fs.FileInfo) error {
	if info.Size() > maxHostFile {
		return fmt.Errorf("%s has %d bytes, and %d are the maximum: move it out of the configuration", name, info.Size(), maxHostFile)
	}
	header, err := tar.FileInfoHeader(info, "")
	if err != nil {
		return fmt.Errorf("cannot describe %s: %w", name, err)
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	header.Name, header.Size = path, int64(len(content))
	if err := archive.WriteHeader(header); err != nil {
		return fmt.Errorf("cannot archive %s: %w", name, err)
	}
	if _, err := archive.Write(content); err != nil {
		return fmt.Errorf("cannot archive %s: %w", name, err)
	}
	return nil
}
