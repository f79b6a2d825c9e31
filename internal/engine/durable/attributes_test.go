package durable_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/durable/durabletest"
	"github.com/refit-dev/refit/test/disk"
)

const (
	acl   = "system.posix_acl_access"
	label = "security.selinux"
)

// aclFor is an access ACL: the owner may do everything, one user may read, nobody else may.
func aclFor(user uint32) []byte {
	out := binary.LittleEndian.AppendUint32(nil, 2)
	for _, entry := range []struct {
		tag, perm uint16
		id        uint32
	}{{1, 6, 1<<32 - 1}, {2, 4, user}, {4, 0, 1<<32 - 1}, {16, 4, 1<<32 - 1}, {32, 0, 1<<32 - 1}} {
		out = binary.LittleEndian.AppendUint16(out, entry.tag)
		out = binary.LittleEndian.AppendUint16(out, entry.perm)
		out = binary.LittleEndian.AppendUint32(out, entry.id)
	}
	return out
}

// set sets an extended attribute, or skips the test where the file system or the user cannot.
func set(t *testing.T, path, name string, value []byte) {
	t.Helper()
	err := unix.Setxattr(path, name, value, 0)
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EPERM) {
		t.Skipf("%s cannot be set on %s: %v", name, path, err)
	}
	must(t, err)
}

func attributes(t *testing.T, path string) durable.Attributes {
	t.Helper()
	found, err := durable.AttributesOf(path)
	must(t, err)
	return found
}

func wantAttributes(t *testing.T, path string, want durable.Attributes) {
	t.Helper()
	got := attributes(t, path)
	if missing := want.Missing(got); len(missing) > 0 || len(got.Xattrs) != len(want.Xattrs) {
		t.Errorf("%s lacks %v: %v, want %v", path, missing, got, want)
	}
}

// hardened creates a file as on a hardened host.
func hardened(t *testing.T, path, text string) durable.Attributes {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can change the owner and the label of a file")
	}
	put(t, path, text)
	must(t, os.Chown(path, 12345, 54321))
	must(t, os.Chmod(path, 0o640))
	set(t, path, acl, aclFor(777))
	set(t, path, "user.origin", []byte("golden image"))
	set(t, path, label, []byte("system_u:object_r:kubelet_exec_t:s0\x00"))
	set(t, path, "trusted.backup", nil)
	return attributes(t, path)
}

func TestReplacedFileKeepsAllAttributes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	was := hardened(t, path, "old")
	if len(was.Xattrs) != 4 || was.Owner.UID != 12345 {
		t.Fatalf("the file has %v", was)
	}
	must(t, durable.ReplaceFile(path, []byte("new"), 0o600))
	wantText(t, path, "new")
	wantAttributes(t, path, was)
}

func TestWriteOfAStateFileKeepsItsXattrs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	put(t, path, "old")
	set(t, path, "user.origin", []byte("golden image"))
	must(t, durable.WriteFile(path, []byte("new"), 0o600))
	if got := attributes(t, path); string(got.Xattrs["user.origin"]) != "golden image" {
		t.Errorf("got %v", got)
	}
}

func TestCopyHasAllAttributes(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	was := hardened(t, from, "text")
	must(t, durable.Copy(from, to))
	wantText(t, to, "text")
	wantAttributes(t, to, was)
}

func TestFileReplacedBySavedAttributesDropsThePresentACL(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	hardened(t, path, "old")
	must(t, durable.WriteFileWith(path, []byte("new"), durable.Attributes{Mode: 0o644, Owner: durable.Caller, Xattrs: durable.Xattrs{}}))
	if got := attributes(t, path); got.Xattrs[acl] != nil || got.Mode != 0o644 {
		t.Errorf("got %v", got)
	}
}

// A directory may have a default ACL, which each new file inherits.
func TestReplacedFileDoesNotInheritTheACLOfItsDirectory(t *testing.T) {
	dir := t.TempDir()
	path, fresh := filepath.Join(dir, "file"), filepath.Join(dir, "fresh")
	put(t, path, "old")
	set(t, dir, "system.posix_acl_default", aclFor(777))
	must(t, durable.ReplaceFile(path, []byte("new"), 0o600))
	if got := attributes(t, path); got.Xattrs[acl] != nil {
		t.Errorf("the replaced file has %v", got)
	}
	must(t, durable.ReplaceFile(fresh, []byte("new"), 0o640))
	if got := attributes(t, fresh); got.Xattrs[acl] == nil {
		t.Errorf("the new file has %v", got)
	}
}

// echo prints its arguments, so the label shows how the binary is called.
func TestNewFileHasTheLabelOfThePolicy(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "runc")
	durabletest.Matchpathcon(t, "/bin/echo")
	must(t, durable.ReplaceFile(path, []byte("x"), 0o755))
	if got := attributes(t, path); len(got.Xattrs) > 0 {
		t.Errorf("without labels on the host the new file has %v", got)
	}
	must(t, os.Remove(path))
	set(t, dir, label, []byte("system_u:object_r:bin_t:s0\x00"))
	must(t, durable.ReplaceFile(path, []byte("x"), 0o755))
	if got := string(attributes(t, path).Xattrs[label]); got != "-m file "+path+"\x00" {
		t.Errorf("the label is %q", got)
	}
	for name, binary := range map[string]string{"absent": "/no/such/binary", "failing": "/bin/false", "silent": "/bin/true"} {
		must(t, os.Remove(path))
		durabletest.Matchpathcon(t, binary)
		must(t, durable.ReplaceFile(path, []byte("x"), 0o755))
		if got := attributes(t, path); got.Xattrs[label] != nil {
			t.Errorf("with a binary that is %s the label is %q", name, got.Xattrs[label])
		}
	}
}

func TestAttributeOfOneContentIsNotCopied(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	put(t, path, "old")
	set(t, path, "security.ima", []byte("\x01 a digest of the old content"))
	must(t, durable.ReplaceFile(path, []byte("new"), 0o600))
	if _, err := unix.Getxattr(path, "security.ima", make([]byte, 100)); !errors.Is(err, unix.ENODATA) {
		t.Errorf("the new content has the digest of the old one: %v", err)
	}
}

func TestRejectedAttributeDoesNotFailTheWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	put(t, path, "old")
	want := durable.Attributes{Mode: 0o600, Owner: durable.Caller, Xattrs: durable.Xattrs{"nosuch.namespace": []byte("x"), acl: []byte("no ACL")}}
	must(t, durable.WriteFileWith(path, []byte("new"), want))
	wantText(t, path, "new")
	if missing := want.Missing(attributes(t, path)); !slices.Equal(missing, []string{"nosuch.namespace", acl}) {
		t.Errorf("missing %v", missing)
	}
}

func TestMissingListsWhatDiffers(t *testing.T) {
	was := durable.Attributes{Mode: 0o640, Owner: durable.Owner{UID: 1, GID: 2}, Xattrs: durable.Xattrs{label: []byte("a"), acl: []byte("b")}}
	now := durable.Attributes{Mode: 0o600, Xattrs: durable.Xattrs{acl: []byte("c"), "user.more": []byte("d")}}
	want := []string{"mode -rw-------, not -rw-r-----", "owner 0:0, not 1:2", label, acl}
	if got := was.Missing(now); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if got := was.Missing(was); got != nil {
		t.Errorf("got %q", got)
	}
}

// The attributes must be on disk before the name: a power cut leaves the old file or the new one
// with its attributes.
func TestPowerCutAfterAReplacedFileKeepsItsAttributes(t *testing.T) {
	d := disk.New(t)
	path := filepath.Join(d.Dir, "file")
	was := hardened(t, path, "old")
	must(t, durable.SetAttributes(path, was))
	must(t, durable.SyncDir(d.Dir))
	must(t, durable.ReplaceFile(path, []byte("new"), 0o600))
	d.CutPower(t)
	d.Boot(t)
	wantText(t, path, "new")
	wantAttributes(t, path, was)
}

func TestReplaceOnAFullDiskKeepsTheOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	was := hardened(t, path, "old")
	durabletest.FailFiles(t, unix.ENOSPC)
	wantFailure(t, durable.ReplaceFile(path, []byte("new"), 0o600), refitv1alpha1.FailureManualIntervention, "DiskFull")
	wantText(t, path, "old")
	wantAttributes(t, path, was)
	wantNames(t, filepath.Dir(path), "file")
}

// A capability of CAP_NET_BIND_SERVICE, as setcap writes it.
var capability = []byte{1, 0, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

// chown would remove the capability, and clear the setuid bit, of a binary that runs meanwhile.
func TestUnchangedOwnerIsNotSetAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	put(t, path, "binary")
	must(t, os.Chmod(path, 0o755))
	set(t, path, durable.CapabilityXattr, capability)
	was := attributes(t, path)
	must(t, durable.SetAttributes(path, durable.Attributes{Mode: was.Mode, Owner: was.Owner}))
	wantAttributes(t, path, was)
}

// The mask of an ACL is the mode of the group: without the ACL, the group could read the file.
func TestModeIsNotWidenedBeforeTheACL(t *testing.T) {
	d := disk.New(t)
	path := filepath.Join(d.Dir, "file")
	put(t, path, "secret")
	must(t, os.Chmod(path, 0o600))
	set(t, path, "user.filler", bytes.Repeat([]byte("x"), 60)) // the ACL needs a block of its own
	disk.FillUp(t, d.Dir)
	wide := durable.Attributes{Mode: 0o640, Owner: durable.Caller, Xattrs: durable.Xattrs{acl: aclFor(777)}}
	if err := durable.SetAttributes(path, wide); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("the ACL was set on a full disk: %v", err)
	}
	if got := attributes(t, path).Mode; got != 0o600 {
		t.Errorf("the group may read it: %v", got)
	}
}

func TestModeOfAnACLIsKeptWithSetuid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	put(t, path, "binary")
	want := durable.Attributes{Mode: 0o640 | os.ModeSetuid, Owner: durable.Caller, Xattrs: durable.Xattrs{acl: aclFor(777)}}
	set(t, path, acl, aclFor(1))
	for range 2 {
		must(t, durable.SetAttributes(path, want))
		wantAttributes(t, path, want)
	}
}
