package restore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/etcd"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/restore"
)

// Member is the etcd member of this host, as its manifest describes it.
type Member struct {
	Name, PeerURL, Image, Version string
	DataDir                       string // on the host
	SeparateWAL                   bool
	manifest                      []byte
	readOnly                      string // the target of the manifest, if it cannot be written
}

// ReadMember reads the manifest of etcd. If an interrupted restore has removed it, its copy is
// used.
func ReadMember(paths ...string) (Member, error) {
	text, err := readOr(paths...)
	if err != nil {
		return Member{}, fmt.Errorf("cannot read the manifest of etcd: %w", err)
	}
	m, err := kubeadm.Parse(text)
	if err != nil {
		return Member{}, err
	}
	flag := func(name string) string {
		values := m.Flags[name]
		if len(values) == 0 {
			return ""
		}
		return values[len(values)-1]
	}
	member := Member{
		Name: flag("name"), PeerURL: flag("initial-advertise-peer-urls"), Image: m.Image, Version: m.Version(),
		DataDir: onHost(m, flag("data-dir")), SeparateWAL: flag("wal-dir") != "", manifest: text,
	}
	member.SeparateWAL = member.SeparateWAL || divided(member.DataDir)
	if member.Name == "" || member.PeerURL == "" || member.DataDir == "" {
		return Member{}, errors.New("the manifest of etcd has no --name, --initial-advertise-peer-urls or --data-dir on the host")
	}
	if member.readOnly, err = readOnlyTarget(paths[0]); err != nil {
		return Member{}, fmt.Errorf("cannot read the manifest of etcd: %w", err)
	}
	return member, nil
}

// readOnlyTarget returns the file that a symlink leads to if its directory cannot be written.
func readOnlyTarget(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return "", nil //nolint:nilerr // an interrupted restore has removed it
	}
	target, err := durable.Resolve(path)
	if err != nil || unix.Access(filepath.Dir(target), unix.W_OK) == nil {
		return "", err
	}
	return target, nil
}

// divided reports whether a part of the data is on another file system or behind a symlink, where
// renaming does not move it.
func divided(dataDir string) bool {
	whole, err := os.Stat(dataDir)
	if err != nil {
		return false
	}
	for _, part := range []string{"member", "member/wal", "member/snap", "member/snap/db"} {
		info, err := os.Lstat(filepath.Join(dataDir, part))
		if err == nil && (info.Mode()&fs.ModeSymlink != 0 || device(info) != device(whole)) {
			return true
		}
	}
	return false
}

func device(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Dev) //nolint:unconvert // it has another type on other platforms
	}
	return 0
}

// onHost returns the path on the host of a path in a pod, or "".
func onHost(m kubeadm.Manifest, path string) string {
	for _, mount := range m.Mounts {
		rest, below := strings.CutPrefix(path, strings.TrimSuffix(mount.Path, "/"))
		if below && filepath.IsAbs(mount.HostPath) && (rest == "" || rest[0] == '/') {
			return filepath.Join(mount.HostPath, rest)
		}
	}
	return ""
}

// Observe completes an observation with what the host shows of etcd and its disk.
func (m Member) Observe(ctx context.Context, machine Machine, o *restore.Observation) error {
	o.Host.Member, o.Host.PeerURL, o.Host.EtcdVersion, o.Host.SeparateWAL = m.Name, m.PeerURL, m.Version, m.SeparateWAL
	o.Host.ReadOnlyManifest = m.readOnly
	serving := machine.Serving(ctx, m.manifest, m.Name, o.Backup.Members)
	o.Etcd.Serves = slices.Contains(serving, m.Name)
	if o.Etcd.Serves {
		o.Etcd.Revision, _ = machine.Revision(ctx, m.manifest) // 0 if it is unknown
	}
	o.Etcd.Others = slices.ContainsFunc(serving, func(name string) bool { return name != m.Name })
	if o.Etcd.APIServer = machine.APIServerReady(ctx) == nil; o.Etcd.APIServer && o.Etcd.Serves {
		uid, err := machine.ClusterUID(ctx)
		if err == nil {
			o.Etcd.ClusterUID = uid
		}
	}
	if revision, err := etcd.DataRevision(filepath.Join(m.DataDir, "member", "snap", "db")); err == nil {
		o.Etcd.Data = true
		o.Host.Revision = max(o.Host.Revision, revision)
	}
	return m.disk(o)
}

// disk returns the free space where the data is, or will be.
func (m Member) disk(o *restore.Observation) error {
	dir := m.DataDir
	for {
		_, err := os.Stat(dir)
		if err == nil || dir == "/" {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return durable.Explain(err, "read", dir)
		}
		dir = filepath.Dir(dir)
	}
	free, err := host.Free(dir)
	o.Host.Free = free.Bytes
	return err
}
