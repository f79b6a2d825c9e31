package host

import (
	"bytes"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/durable/durabletest"
	"github.com/refit-dev/refit/test/disk"
)

// etc is a host's configuration, and where it is saved.
func etc(t *testing.T, dir string) (root, saved string, paths []string) {
	t.Helper()
	root, saved = filepath.Join(dir, "etc"), filepath.Join(dir, "saved")
	put(t, filepath.Join(root, "manifests", "kube-apiserver.yaml"), "api old", 0o600)
	put(t, filepath.Join(root, "manifests", "etcd.yaml"), "etcd old", 0o600)
	put(t, filepath.Join(root, "pki", "ca.crt"), "ca", 0o644)
	put(t, filepath.Join(root, "pki", "etcd", "server.key"), "key", 0o600)
	put(t, filepath.Join(root, "kubelet.conf"), "conf", 0o640)
	must(t, os.Symlink("kubelet.conf", filepath.Join(root, "link.conf")))
	must(t, os.Chmod(filepath.Join(root, "pki"), 0o700))
	return root, saved, []string{
		filepath.Join(root, "manifests"), filepath.Join(root, "pki"), filepath.Join(root, "kubelet.conf"), filepath.Join(root, "link.conf"),
		filepath.Join(root, "absent.env"), filepath.Join(root, "absent.d"),
	}
}

func load(t *testing.T, dir string) *Saved {
	t.Helper()
	s, err := LoadSaved(dir)
	must(t, err)
	return s
}

func wantChanged(t *testing.T, s *Saved, paths []string, root string, want ...string) {
	t.Helper()
	got, err := s.Changed(paths...)
	must(t, err)
	for i := range got {
		got[i] = strings.TrimPrefix(got[i], root+"/")
	}
	if !slices.Equal(got, want) {
		t.Errorf("changed: %v, want %v", got, want)
	}
}

func TestConfigurationIsPutBackAsItWas(t *testing.T) {
	root, saved, paths := etc(t, t.TempDir())
	must(t, Save(saved, paths))
	s := load(t, saved)
	wantChanged(t, s, paths, root)
	if text, err := s.Read(filepath.Join(root, "pki", "etcd", "server.key")); err != nil || string(text) != "key" {
		t.Errorf("%q, %v", text, err)
	}
	if e, ok := s.Entry(filepath.Join(root, "absent.env")); !ok || !e.Absent {
		t.Errorf("%+v", e)
	}
	if e, ok := s.Entry(filepath.Join(root, "link.conf")); !ok || e.Link != "kubelet.conf" {
		t.Errorf("%+v", e)
	}

	put(t, filepath.Join(root, "manifests", "kube-apiserver.yaml"), "api new", 0o600)
	put(t, filepath.Join(root, "manifests", "added.yaml"), "x", 0o600)
	must(t, os.Remove(filepath.Join(root, "manifests", "etcd.yaml")))
	put(t, filepath.Join(root, "manifests", ".etcd.yaml.refit-old"), "kept by a swap", 0o600)
	must(t, os.RemoveAll(filepath.Join(root, "pki", "etcd")))
	put(t, filepath.Join(root, "pki", "etcd"), "a file now", 0o600)
	must(t, os.Chmod(filepath.Join(root, "pki", "ca.crt"), 0o666))
	must(t, os.Remove(filepath.Join(root, "kubelet.conf")))
	put(t, filepath.Join(root, "kubelet.conf", "sub", "file"), "a directory now", 0o600)
	must(t, os.Remove(filepath.Join(root, "link.conf")))
	put(t, filepath.Join(root, "link.conf"), "a file now", 0o600)
	put(t, filepath.Join(root, "absent.env"), "x", 0o600)
	put(t, filepath.Join(root, "absent.d", "10.conf"), "x", 0o600)
	wantChanged(t, s, paths, root, "absent.d", "absent.env", "kubelet.conf", "link.conf", "manifests/added.yaml", "manifests/etcd.yaml",
		"manifests/kube-apiserver.yaml", "pki/ca.crt", "pki/etcd", "pki/etcd/server.key")

	must(t, s.Restore(paths[0]))
	wantText(t, filepath.Join(root, "manifests", ".etcd.yaml.refit-old"), "kept by a swap")
	wantChanged(t, s, paths, root, "absent.d", "absent.env", "kubelet.conf", "link.conf", "pki/ca.crt", "pki/etcd", "pki/etcd/server.key")
	for range 2 {
		must(t, s.Restore(paths...))
		wantChanged(t, s, paths, root)
	}
	wantText(t, filepath.Join(root, "pki", "etcd", "server.key"), "key")
	wantText(t, filepath.Join(root, "link.conf"), "conf")
	if got := names(t, root); !slices.Equal(got, []string{"kubelet.conf", "link.conf", "manifests", "pki"}) {
		t.Errorf("left behind: %v", got)
	}
}

func TestWholeTreeThatIsGoneComesBack(t *testing.T) {
	root, saved, paths := etc(t, t.TempDir())
	must(t, Save(saved, paths))
	must(t, os.RemoveAll(root))
	s := load(t, saved)
	must(t, s.Restore(paths...))
	wantChanged(t, s, paths, root)
}

func TestOwnersArePutBack(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root gives files away")
	}
	root, saved, paths := etc(t, t.TempDir())
	key := filepath.Join(root, "pki", "etcd", "server.key")
	must(t, os.Chown(key, 12345, 54321))
	must(t, Save(saved, paths))
	must(t, os.Remove(key))
	s := load(t, saved)
	must(t, s.Restore(paths...))
	if e, err := look(key); err != nil || e.UID != 12345 || e.GID != 54321 {
		t.Errorf("%+v %v", e, err)
	}
}

func TestSavedOnceIsNotSavedAgain(t *testing.T) {
	root, saved, paths := etc(t, t.TempDir())
	must(t, Save(saved, paths))
	put(t, filepath.Join(root, "kubelet.conf"), "new", 0o640)
	must(t, Save(saved, paths))
	if text, err := load(t, saved).Read(filepath.Join(root, "kubelet.conf")); err != nil || string(text) != "conf" {
		t.Errorf("what is to be kept was lost: %q %v", text, err)
	}
	if err := Save(saved, append(paths, filepath.Join(root, "more"))); err == nil {
		t.Error("it says that it saved what it did not")
	}
}

func TestSaveThatWasCutOffCountsForNothing(t *testing.T) {
	root, saved, paths := etc(t, t.TempDir())
	if _, err := LoadSaved(saved); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("got %v", err)
	}
	durabletest.FailDirs(t, unix.EIO)
	wantFailure(t, Save(saved, paths), refitv1alpha1.FailureHostBroken, "DiskBroken")
	if _, err := LoadSaved(saved); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("got %v", err)
	}
	durabletest.FailDirs(t, nil)
	must(t, Save(saved, paths))
	wantChanged(t, load(t, saved), paths, root)
}

// An index that reaches the disk before the copies would speak of what is not there.
func TestCopiesReachTheDiskBeforeTheirIndex(t *testing.T) {
	_, saved, paths := etc(t, t.TempDir())
	before := false
	durabletest.SyncDir(t, func(dir string, sync func(string) error) error {
		if dir == saved && len(names(t, saved)) == 5 && read(t, filepath.Join(saved, indexName)) == "absent" {
			before = true
		}
		return sync(dir)
	})
	must(t, Save(saved, paths))
	if !before {
		t.Error("the names of the copies were not brought to the disk first")
	}
}

func TestWhatASwapKeepsIsNotSaved(t *testing.T) {
	root, saved, paths := etc(t, t.TempDir())
	put(t, filepath.Join(root, "manifests", ".etcd.yaml.refit-old"), "x", 0o600)
	put(t, filepath.Join(root, "manifests", ".etcd.yaml.refit-tmp"), "x", 0o600)
	must(t, Save(saved, paths))
	for _, suffix := range []string{oldSuffix, tmpSuffix} {
		if e, ok := load(t, saved).Entry(filepath.Join(root, "manifests", ".etcd.yaml"+suffix)); ok {
			t.Errorf("%+v", e)
		}
	}
}

func TestDamagedCopyChangesNothing(t *testing.T) {
	root, saved, paths := etc(t, t.TempDir())
	must(t, Save(saved, paths))
	s := load(t, saved)
	key := filepath.Join(root, "pki", "etcd", "server.key")
	put(t, filepath.Join(root, "manifests", "etcd.yaml"), "new", 0o600)
	put(t, s.blob(sha("key")), "kez", 0o600)
	wantFailure(t, s.Restore(paths...), refitv1alpha1.FailureHostBroken, "SavedDamaged")
	wantText(t, filepath.Join(root, "manifests", "etcd.yaml"), "new")
	_, err := s.Read(key)
	wantFailure(t, err, refitv1alpha1.FailureHostBroken, "SavedDamaged")
	must(t, os.Remove(s.blob(sha("key"))))
	wantFailure(t, s.Restore(key), refitv1alpha1.FailureHostBroken, "SavedDamaged")
	must(t, s.Restore(paths[0])) // What is whole can still go back.
	wantText(t, filepath.Join(root, "manifests", "etcd.yaml"), "etcd old")
}

func TestDamagedIndexIsRefused(t *testing.T) {
	_, saved, paths := etc(t, t.TempDir())
	must(t, Save(saved, paths))
	path := filepath.Join(saved, indexName)
	text := read(t, path)
	for name, bad := range map[string]string{"cut": text[:len(text)/2], "another owner": strings.Replace(text, `"uid":`, `"uid":1`, 1), "empty": ""} {
		put(t, path, bad, 0o600)
		_, err := LoadSaved(saved)
		if wantFailure(t, err, refitv1alpha1.FailureHostBroken, "SavedDamaged"); t.Failed() {
			t.Log(name)
		}
	}
	put(t, path, strings.Replace(text, `"format":1`, `"format":2`, 1), 0o600)
	_, err := LoadSaved(saved)
	wantFailure(t, err, refitv1alpha1.FailureManualIntervention, "SavedTooNew")
}

func TestNothingIsPutBackThatWasNotSaved(t *testing.T) {
	root, saved, paths := etc(t, t.TempDir())
	must(t, Save(saved, paths[1:]))
	if err := load(t, saved).Restore(paths[0]); err == nil {
		t.Error("it was guessed at")
	}
	wantText(t, filepath.Join(root, "manifests", "etcd.yaml"), "etcd old")
}

func TestLinksAreNotFollowedAndSocketsAreLeftAlone(t *testing.T) {
	dir := t.TempDir()
	root, saved, paths := etc(t, dir)
	put(t, filepath.Join(dir, "outside", "file"), "mine", 0o600)
	must(t, os.Symlink(filepath.Join(dir, "outside"), filepath.Join(root, "pki", "out")))
	listener, err := net.Listen("unix", filepath.Join(root, "pki", "socket"))
	must(t, err)
	defer listener.Close()
	must(t, Save(saved, paths))
	s := load(t, saved)
	if _, ok := s.Entry(filepath.Join(root, "pki", "out", "file")); ok {
		t.Error("a link was followed")
	}
	put(t, filepath.Join(dir, "outside", "more"), "mine too", 0o600)
	must(t, s.Restore(paths...))
	wantText(t, filepath.Join(dir, "outside", "more"), "mine too")
	if _, err := os.Lstat(filepath.Join(root, "pki", "socket")); err != nil {
		t.Errorf("the socket is gone: %v", err)
	}
	wantChanged(t, s, paths, root)
}

func TestCopiesAreForRootOnly(t *testing.T) {
	_, saved, paths := etc(t, t.TempDir())
	must(t, Save(saved, paths))
	if info, err := os.Stat(saved); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	for _, name := range names(t, saved) {
		if info, err := os.Stat(filepath.Join(saved, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
}

func TestHugeFileIsNoConfiguration(t *testing.T) {
	root, saved, paths := etc(t, t.TempDir())
	must(t, os.Truncate(filepath.Join(root, "pki", "ca.crt"), maxSaved+1))
	wantFailure(t, Save(saved, paths), refitv1alpha1.FailureManualIntervention, "TooLargeToSave")
}

func TestPowerCutWhileConfigurationIsPutBack(t *testing.T) {
	d := disk.New(t)
	root, saved, paths := etc(t, d.Dir)
	manifest := filepath.Join(root, "manifests", "kube-apiserver.yaml")
	d.Flush(t)
	must(t, Save(saved, paths))
	d.CutPower(t)
	d.Boot(t)
	s := load(t, saved)
	for point := 0; ; point++ {
		put(t, manifest, "api new", 0o600)
		put(t, filepath.Join(root, "absent.env"), "x", 0o600)
		must(t, os.Remove(filepath.Join(root, "link.conf")))
		must(t, os.Symlink("elsewhere", filepath.Join(root, "link.conf")))
		d.Flush(t)
		calls, cut := 0, false
		strike := func() {
			if calls == point {
				cut = true
				d.CutPower(t)
			}
			calls++
		}
		restore := durabletest.Before(t, strike)
		err := s.Restore(paths...)
		restore()
		if cut == (err == nil) {
			t.Fatalf("cut at %d: %v, but the error is %v", point, cut, err)
		}
		if !cut {
			d.CutPower(t)
		}
		d.Boot(t)
		if got := read(t, manifest); got != "api old" && got != "api new" {
			t.Fatalf("cut at %d: %q", point, got)
		}
		if !cut {
			wantChanged(t, s, paths, root)
			break
		}
		must(t, s.Restore(paths...))
		wantChanged(t, s, paths, root)
	}
}

func TestPowerCutAfterASymlinkWasPutBack(t *testing.T) {
	d := disk.New(t)
	root, saved, paths := etc(t, d.Dir)
	must(t, Save(saved, paths))
	path := filepath.Join(root, "link.conf")
	must(t, os.Remove(path))
	must(t, os.Symlink("elsewhere", path))
	d.Flush(t)
	must(t, load(t, saved).Restore(path))
	d.CutPower(t)
	d.Boot(t)
	wantText(t, path, "conf")
}

// F23: the way back on a full disk.
func TestWayBackOnAFullDisk(t *testing.T) {
	d := disk.New(t)
	root, saved, paths := etc(t, d.Dir)
	manifest, reserve := filepath.Join(root, "manifests", "kube-apiserver.yaml"), filepath.Join(d.Dir, "reserve")
	large := strings.Repeat("old ", 50_000)
	put(t, manifest, large, 0o600)
	must(t, Save(saved, paths))
	from, to := swapIn(t, d.Dir)
	must(t, Stage(from, to, 0o755))
	must(t, Swap(to, sha(oldText), sha(newText)))
	for range 2 {
		must(t, Reserve(reserve, 2<<20))
	}
	put(t, manifest, "new", 0o600)
	disk.FillUp(t, d.Dir)
	s := load(t, saved)

	must(t, Unswap(to, sha(oldText), sha(newText))) // Needs no room at all.
	wantState(t, to, Old)
	wantFailure(t, s.Restore(manifest), refitv1alpha1.FailureManualIntervention, "DiskFull")
	wantText(t, manifest, "new")
	must(t, Reserve(reserve, 2<<20)) // It is still there, so this needs no room either.
	for range 2 {
		must(t, ReleaseReserve(reserve))
	}
	must(t, s.Restore(paths...))
	if !bytes.Equal([]byte(read(t, manifest)), []byte(large)) {
		t.Error("the manifest is not back")
	}
}

// A directory with no room for one more name: the previous file's own name is given up.
func TestPreviousFileGoesBackWithoutRoomForALink(t *testing.T) {
	from, to := swapIn(t, t.TempDir())
	must(t, Stage(from, to, 0o755))
	must(t, Swap(to, sha(oldText), sha(newText)))
	durabletest.FailLinks(t, &os.LinkError{Op: "link", Err: unix.ENOSPC})
	must(t, Unswap(to, sha(oldText), sha(newText)))
	wantState(t, to, Old)
	must(t, Unswap(to, sha(oldText), sha(newText)))
}
