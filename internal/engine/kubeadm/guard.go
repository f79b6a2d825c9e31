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

// phaseFiles are the files of the host that a phase writes. kubeadm writes them in place and does not sync them, so a kill leaves half a file and a
// power cut an empty one; and where kubeadm reads the file that it writes, or leaves one alone that is there, running it again does not mend that.
var phaseFiles = map[string][]string{
	PhaseKubeconfig:    {"/etc/kubernetes/kubelet.conf"},
	PhaseKubeletConfig: {"/var/lib/kubelet/config.yaml", "/var/lib/kubelet/instance-config.yaml", "/var/lib/kubelet/kubeadm-flags.env"},
	PhasePostUpgrade:   {"/var/lib/kubelet/kubeadm-flags.env"},
}

// PhaseFiles lists the files of the host that a phase may write.
func PhaseFiles(phase string) []string { return slices.Clone(phaseFiles[phase]) }

// guardedFile is a file as it was.
type guardedFile struct {
	Path  string        `json:"path"`
	Mode  fs.FileMode   `json:"mode,omitempty"`
	Owner durable.Owner `json:"owner,omitzero"`
	Gone  bool          `json:"gone,omitempty"`
}

const guardIndex = "index.json"

// guard runs something that writes files, so that it is either over, with all that it wrote on disk, or did not happen. When the one before was cut
// off, the files are put back first; when it ended by itself, well or not, what it wrote stays.
func guard(dir string, files []string, run func() error) error {
	if len(files) == 0 {
		return run()
	}
	if err := putBack(dir); err != nil {
		return err
	}
	if err := keep(dir, files); err != nil {
		return err
	}
	err := run()
	if cutOff(err) {
		if backErr := putBack(dir); backErr != nil {
			return errors.Join(err, backErr) // What is kept stays, for the next try.
		}
		return errors.Join(err, forget(dir))
	}
	for _, file := range files {
		if syncErr := durable.SyncFile(file); syncErr != nil && !errors.Is(syncErr, fs.ErrNotExist) {
			return errors.Join(err, syncErr)
		}
		if syncErr := durable.SyncDir(filepath.Dir(file)); syncErr != nil && !errors.Is(syncErr, fs.ErrNotExist) {
			return errors.Join(err, syncErr)
		}
	}
	return errors.Join(err, forget(dir))
}

// cutOff says that a program did not end by itself.
func cutOff(err error) bool {
	var exit *exec.ExitError
	return err != nil && (!errors.As(err, &exit) || !exit.Exited())
}

// keep copies files. The index is written last: without it there is nothing to put back.
func keep(dir string, files []string) error {
	if err := forget(dir); err != nil {
		return err
	}
	if err := durable.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	var index []guardedFile
	for i, path := range files {
		info, err := os.Stat(path)
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
		index = append(index, guardedFile{Path: path, Mode: info.Mode().Perm(), Owner: durable.OwnerOf(info)})
	}
	text, err := json.Marshal(index)
	if err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(dir, guardIndex), text, 0o600)
}

// putBack puts the kept files back, if any are kept.
func putBack(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, guardIndex))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var index []guardedFile
	if err := json.Unmarshal(text, &index); err != nil {
		return node.HostBroken("KeptFilesBroken", err, "look at the disk of this host"+thenRetry, "what was kept before kubeadm ran cannot be read")
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
		if err := durable.WriteFileAs(file.Path, text, file.Mode, file.Owner); err != nil {
			return err
		}
	}
	return nil
}

// forget removes what was kept, if anything is; the index first, so that half of it is never taken for all.
func forget(dir string) error {
	if err := durable.Remove(filepath.Join(dir, guardIndex)); err != nil {
		return err
	}
	return removeAll(dir)
}

// removeAll is a variable for tests, which look at what is there when it is called: it removes in any order.
var removeAll = os.RemoveAll
