package kubeadm

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// phaseFiles are the files of the host that a phase writes. kubeadm writes them in place and does
// not sync them, so a kill leaves a truncated file, and a power cut a file without content. A
// second run does not fix that if kubeadm reads the file that it writes or keeps an existing one.
var phaseFiles = map[string][]string{
	PhaseKubeconfig:    {"/etc/kubernetes/kubelet.conf"},
	PhaseKubeletConfig: {"/var/lib/kubelet/config.yaml", "/var/lib/kubelet/instance-config.yaml", "/var/lib/kubelet/kubeadm-flags.env"},
	PhasePostUpgrade:   {"/var/lib/kubelet/kubeadm-flags.env"},
}

// PhaseFiles lists the files of the host that a phase may write.
func PhaseFiles(phase string) []string { return slices.Clone(phaseFiles[phase]) }

// guardedFile describes a file before a phase runs.
type guardedFile struct {
	Path  string        `json:"path"`
	Mode  fs.FileMode   `json:"mode,omitempty"`
	Owner durable.Owner `json:"owner,omitzero"`
	Gone  bool          `json:"gone,omitempty"`

	Xattrs durable.Xattrs `json:"xattrs,omitempty"`
}

const guardIndex = "index.json"

// guard makes a run that writes files atomic: either it ended and the files are on disk, or they
// are unchanged. It first restores the files of a former run that was interrupted. If the run ends
// by itself, successfully or not, the files stay as it wrote them.
func guard(dir string, files []string, run func() error) error {
	if len(files) == 0 {
		return run()
	}
	if err := restoreFiles(dir); err != nil {
		return err
	}
	if err := keep(dir, files); err != nil {
		return err
	}
	err := run()
	if interrupted(err) {
		if restoreErr := restoreFiles(dir); restoreErr != nil {
			return errors.Join(err, restoreErr) // The copies stay for the next attempt.
		}
		return errors.Join(err, forget(dir))
	}
	for _, file := range files {
		if syncErr := syncWritten(file); syncErr != nil {
			return errors.Join(err, syncErr)
		}
	}
	return errors.Join(err, forget(dir))
}

// syncWritten syncs a file that kubeadm may have written, and the directory that has its entry:
// that of the target if the file is a symlink.
func syncWritten(file string) error {
	target, err := durable.Resolve(file)
	if err != nil {
		return err
	}
	if err := durable.SyncFile(target); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := syncDir(filepath.Dir(target)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// interrupted reports whether a process did not end by itself.
func interrupted(err error) bool {
	var exit *exec.ExitError
	return err != nil && (!errors.As(err, &exit) || !exit.Exited())
}

// keep copies files. It writes the index last: without it nothing is restored.
func keep(dir string, files []string) error {
	if err := forget(dir); err != nil {
		return err
	}
	if err := durable.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	var index []guardedFile
	for i, path := range files {
		path, err := durable.Resolve(path) // kubeadm writes through symlinks, and they stay
		if err != nil {
			return err
		}
		found, err := durable.AttributesOf(path)
		if errors.Is(err, fs.ErrNotExist) {
			index = append(index, guardedFile{Path: path, Gone: true})
			continue
		}
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := durable.WriteFile(filepath.Join(dir, strconv.Itoa(i)), text, 0o600); err != nil {
			return err
		}
		index = append(index, guardedFile{Path: path, Mode: found.Mode, Owner: found.Owner, Xattrs: found.Xattrs})
	}
	text, err := json.Marshal(index)
	if err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(dir, guardIndex), text, 0o600)
}

// restoreFiles restores the copied files, if there are any.
func restoreFiles(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, guardIndex))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var index []guardedFile
	if err := json.Unmarshal(text, &index); err != nil {
		return node.HostBroken("KeptFilesBroken", err, "Check the disk of this host"+thenRetry, "cannot read the copies of the files that kubeadm writes")
	}
	for i, file := range index {
		if file.Gone {
			if err := durable.Remove(file.Path); err != nil {
				return err
			}
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(i)))
		if err != nil {
			return err
		}
		if err := durable.WriteFileWith(file.Path, text, durable.Attributes{Mode: file.Mode, Owner: file.Owner, Xattrs: file.Xattrs}); err != nil {
			return err
		}
	}
	return nil
}

// forget removes the copies, the index first, so that a part of them is never restored.
func forget(dir string) error {
	if err := durable.Remove(filepath.Join(dir, guardIndex)); err != nil {
		return err
	}
	return removeAll(dir)
}

// These are variables so that tests can check what exists when they are called.
var (
	removeAll = os.RemoveAll
	syncDir   = durable.SyncDir
)
