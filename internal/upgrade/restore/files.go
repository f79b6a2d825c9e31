package restore

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"
)

// File is a file of a control plane host: in a backup, or on the host.
type File struct {
	Path     string // absolute
	Mode     fs.FileMode
	UID, GID int
	Content  []byte
}

// FileState compares a file of a backup with the one on the host.
type FileState string

// The states of files.
const (
	FileMissing FileState = "Missing"
	FileSame    FileState = "Same"
	FileDiffers FileState = "Differs"
)

// FileChange is what a restore does with one file of a backup.
type FileChange struct {
	Path  string
	State FileState
	// Write is set if the file of the backup is written.
	Write bool
	// Note is why it is not written, or what is lost if it is.
	Note string
}

// FileRequest is what an operator wants of the files of a backup.
type FileRequest struct {
	Now time.Time
	// From is the host of the backup if it is another one; else it is empty.
	From string
	// Overwrite are the paths of files that are replaced although the host has others.
	Overwrite []string
	// Outside is why files of a backup must not be written, by path.
	Outside map[string]string
}

// manifestsDir is written last: static pods start as soon as their manifests are there.
const manifestsDir = "/etc/kubernetes/manifests/"

// Files returns what happens with each file of a backup, in the order in which they are written:
// missing ones are written, others only if the operator names them.
func Files(archived, present map[string]File, request FileRequest) ([]FileChange, error) {
	for _, path := range request.Overwrite {
		if _, ok := archived[path]; !ok {
			return nil, fmt.Errorf("the backup has no file %s to overwrite it with", path)
		}
	}
	var changes []FileChange
	for _, path := range slices.Sorted(maps.Keys(archived)) {
		changes = append(changes, fileChange(path, archived, present, request))
	}
	slices.SortStableFunc(changes, func(a, b FileChange) int { return cmp.Compare(rank(a.Path), rank(b.Path)) })
	return changes, nil
}

func rank(path string) int {
	if strings.HasPrefix(path, manifestsDir) {
		return 1
	}
	return 0
}

func fileChange(path string, archived, present map[string]File, request FileRequest) FileChange {
	c := FileChange{Path: path, State: FileMissing}
	was, now := archived[path], present[path]
	if _, ok := present[path]; ok {
		c.State = FileDiffers
		if bytes.Equal(was.Content, now.Content) {
			c.State = FileSame
			return c
		}
	}
	named := slices.Contains(request.Overwrite, path)
	switch other := counterpart(path, archived, present, request.Overwrite); {
	case request.Outside[path] != "":
		c.Note = request.Outside[path]
	case request.From != "" && ofOneHost(path):
		c.Note = "belongs to " + request.From + ": create it with kubeadm"
	case c.State == FileDiffers && !named:
		c.Note = strings.TrimPrefix(newer(was, now)+"; to replace it, add --overwrite "+path, "; ")
	case !named && expired(was, request.Now):
		c.Note = "has expired: create it with kubeadm"
	case other != "":
		c.Note = "does not match " + other + " of this host"
	default:
		c.Write, c.Note = true, newer(was, now)
	}
	return c
}

// ofOneHost reports whether a file is useless on another host. The keys of CAs and service accounts
// are the same on all, and so is what flags of the API server name.
func ofOneHost(path string) bool {
	rest, inPKI := strings.CutPrefix(path, "/etc/kubernetes/pki/")
	if inPKI {
		name := strings.TrimSuffix(strings.TrimSuffix(rest, ".crt"), ".key")
		return name != rest && name != "sa" && !strings.HasSuffix(name, "ca")
	}
	rest, isConfig := strings.CutPrefix(path, "/etc/kubernetes/")
	kubeconfig := isConfig && !strings.Contains(rest, "/") && strings.HasSuffix(rest, ".conf")
	return kubeconfig || strings.HasPrefix(path, manifestsDir) || strings.HasPrefix(path, "/var/lib/kubelet/")
}

// counterpart returns the certificate of a key, or the key of a certificate, if the host keeps
// another one than the backup has. Both parts of a pair must come from the same place.
func counterpart(path string, archived, present map[string]File, overwrite []string) string {
	for ending, others := range map[string][]string{".crt": {".key"}, ".key": {".crt", ".pub"}, ".pub": {".key"}} {
		base, ok := strings.CutSuffix(path, ending)
		if !ok {
			continue
		}
		for _, other := range others {
			now, kept := present[base+other]
			was, has := archived[base+other]
			if kept && has && !bytes.Equal(was.Content, now.Content) && !slices.Contains(overwrite, base+other) {
				return base + other
			}
		}
	}
	return ""
}
