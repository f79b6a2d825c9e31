package steps

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/durable/durabletest"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// A rollback of packages unpacks the previous ones below /usr, which is often another file system
// than the state of the agent. Swapped files are linked back and need no space.
func TestReserveIsWhatTheRollbackNeedsOnEachFileSystem(t *testing.T) {
	const mib = 1 << 20
	h := testHost(t)
	h.Settings.StateDir, h.Settings.ReservedDiskMiB = "/var/lib/refit", 64
	file := func(kind refitv1alpha1.PackageKind, size int64) refitv1alpha1.ReleaseFile {
		return refitv1alpha1.ReleaseFile{Kind: kind, Blob: refitv1alpha1.Blob{Size: size}}
	}
	binaries := []refitv1alpha1.ReleaseFile{file(refitv1alpha1.PackageBinary, 100*mib)}
	packages := []refitv1alpha1.ReleaseFile{file(refitv1alpha1.PackageBinary, 100*mib), file(refitv1alpha1.PackageDeb, 20*mib)}
	usr := func(path string) (uint64, error) {
		if strings.HasPrefix(path, "/usr") {
			return 2, nil
		}
		return 1, nil
	}
	single := func(string) (uint64, error) { return 1, nil }
	for name, tt := range map[string]struct {
		files  []refitv1alpha1.ReleaseFile
		device func(string) (uint64, error)
		want   map[string]int64
	}{
		"plain files, one file system": {binaries, single, map[string]int64{"/var/lib/refit": 64*mib + 2*configBytes}},
		"packages, one file system":    {packages, single, map[string]int64{"/var/lib/refit": 64*mib + 2*configBytes + 20*mib*unpackedPackage}},
		"packages, /usr on another file system": {packages, usr, map[string]int64{
			"/var/lib/refit": 64*mib + 2*configBytes, "/usr": 20 * mib * unpackedPackage,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := byFileSystem(h.rollbackNeeds(tt.files), tt.device)
			must(t, err)
			if len(got) != len(tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			for _, n := range got {
				if tt.want[n.dir] != n.bytes {
					t.Errorf("%s: %d bytes, want %d", n.dir, n.bytes, tt.want[n.dir])
				}
			}
		})
	}
}

// A read-only bind mount is on the same file system as the directories beside it.
func TestReadOnlyDirectoryOfAWritableFileSystemIsRefused(t *testing.T) {
	if !durabletest.PrivateMounts(t) {
		return
	}
	needs := []need{{t.TempDir(), 4096}, {t.TempDir(), 0}}
	must(t, checkWritable(needs))
	durabletest.MountReadOnly(t, needs[1].dir)
	err := checkWritable(needs)
	if f, ok := errors.AsType[*node.Failure](err); !ok || f.Reason != "ReadOnly" || !strings.Contains(f.Message, needs[1].dir) {
		t.Errorf("got %v", err)
	}
}

// Hosts whose /usr is read-only have their binaries elsewhere.
func TestWithoutPackagesNothingIsWrittenToUsr(t *testing.T) {
	h := testHost(t)
	file := refitv1alpha1.ReleaseFile{Kind: refitv1alpha1.PackageBinary, Blob: refitv1alpha1.Blob{Size: 1 << 20}}
	if needs := h.rollbackNeeds([]refitv1alpha1.ReleaseFile{file}); slices.ContainsFunc(needs, func(n need) bool { return n.dir == usrDir }) {
		t.Errorf("%+v", needs)
	}
}

func TestReserveAndItsRelease(t *testing.T) {
	h := testHost(t)
	h.Settings.StateDir = t.TempDir()
	other := t.TempDir()
	must(t, reserveAll(h.Settings, []need{{h.Settings.StateDir, 4096}, {other, 8192}, {t.TempDir(), 0}}))
	for path, size := range map[string]int64{h.Settings.ReserveFile(): 4096, filepath.Join(other, reserveName): 8192} {
		if info, err := os.Stat(path); err != nil || info.Size() != size {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	must(t, releaseAll(h.Settings, []string{h.Settings.StateDir, other, filepath.Join(other, "absent")}))
	for _, path := range []string{h.Settings.ReserveFile(), filepath.Join(other, reserveName)} {
		if exists(path) {
			t.Errorf("%s is still there", path)
		}
	}
}
