//go:build e2e

package agent

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// TestAgentAttributes gives every file that an upgrade may change an unusual owner, an ACL and
// extended attributes, and compares all attributes after an upgrade and after a rollback. It fails
// if the agent has changed another file. It shows that a label is kept, not that SELinux enforces
// it.
func TestAgentAttributes(t *testing.T) {
	for _, spec := range []cluster.Spec{
		{Name: "attrbin", Install: builder.InstallBinaries, Containerd: builder.ContainerdBuilt},
		{Name: "attrdeb", Install: builder.InstallDeb, Containerd: builder.ContainerdDebian},
		{Name: "attrrpm", Install: builder.InstallRpm, Containerd: builder.ContainerdDebian},
	} {
		t.Run(spec.Install, func(t *testing.T) {
			spec.Kubernetes, spec.Disk = older, diskSize
			b := newBed(t, spec)
			n := b.First(cluster.RoleControlPlane)
			r := b.CreateRelease(t, newer)
			b.prefetch(t, r, n)
			labeled := label(t, n, filesOf(t, n))

			b.apply(t, n)
			must(t, b.WaitReady(t.Context(), recovery))
			labeled.compare(t, n, "upgrade")

			_, err := n.Exec(t.Context(), "systemctl", "stop", agentUnit)
			must(t, err)
			must(t, undo(t, n))
			b.wentBack(t, n)
			labeled.compare(t, n, "rollback")
		})
	}
}

// labeled are files with unusual attributes: their digests, their attributes, and all files that
// the host had at that time.
type labeled struct {
	contents, attributes bed.State
	existed              []string
}

// filesOf returns the digests of the files that an upgrade may change.
func filesOf(t *testing.T, n *cluster.Node) bed.State {
	t.Helper()
	state, err := bed.StateOf(t.Context(), n)
	must(t, err)
	maps.DeleteFunc(state, func(name, _ string) bool { return !strings.HasPrefix(name, "/") })
	return state
}

// mark is newer than the attributes that the test has set.
const mark = "/root/labeled"

// label sets the attributes of files. The owner of a packaged file stays: the package decides about
// it.
func label(t *testing.T, n *cluster.Node, contents bed.State) labeled {
	t.Helper()
	for _, path := range slices.Sorted(maps.Keys(contents)) {
		file, err := n.Open(path)
		must(t, err)
		must(t, setAttributes(file, packaged(t, n, path)))
		must(t, file.Close())
	}
	before := attributesOf(t, n, contents)
	for path, attributes := range before {
		for _, want := range []string{"acl=user::rw", "security.selinux=", "trusted.origin=", "user.origin="} {
			must(t, mentions(path+" has "+attributes, want))
		}
	}
	_, err := n.Exec(t.Context(), "touch", mark)
	must(t, err)
	return labeled{contents: contents, attributes: before, existed: search(t, n)}
}

// packaged reports whether a file belongs to a package. A deb package can list /usr/lib as /lib.
func packaged(t *testing.T, n *cluster.Node, path string) bool {
	t.Helper()
	argv := []string{"dpkg-query", "--search", "*" + strings.TrimPrefix(path, "/usr")}
	if n.Install() == builder.InstallRpm {
		argv = []string{"rpm", "--query", "--file", path}
	}
	_, err := n.Exec(t.Context(), argv...)
	return err == nil
}

const accessXattr = "system.posix_acl_access"

func setAttributes(file *os.File, packaged bool) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	rights, kind := uint16(6), "plain"
	if info.Mode()&0o111 != 0 {
		rights, kind = 7, "executable"
	}
	if !packaged {
		if err := file.Chown(12345, 54321); err != nil {
			return err
		}
	}
	for name, value := range map[string][]byte{
		accessXattr:        accessList(rights),
		"security.selinux": []byte("system_u:object_r:" + kind + "_t:s0\x00"),
		"trusted.origin":   []byte("golden image"),
		"user.origin":      []byte("golden image"),
	} {
		if err := unix.Fsetxattr(int(file.Fd()), name, value, 0); err != nil {
			return &os.PathError{Op: "setxattr " + name, Path: file.Name(), Err: err}
		}
	}
	return nil
}

// The tags of an ACL, in the order of their entries.
var accessTags = []struct {
	tag  uint16
	name string
}{{1, "user:"}, {2, "user"}, {4, "group:"}, {8, "group"}, {16, "mask:"}, {32, "other:"}}

// accessList is an ACL: the owner has all rights, user 777 may read and execute.
func accessList(rights uint16) []byte {
	const nobody = 1<<32 - 1
	out := binary.LittleEndian.AppendUint32(nil, 2)
	for _, entry := range []struct {
		tag, rights uint16
		id          uint32
	}{{1, rights, nobody}, {2, rights &^ 2, 777}, {4, 0, nobody}, {16, rights &^ 2, nobody}, {32, 0, nobody}} {
		out = binary.LittleEndian.AppendUint16(out, entry.tag)
		out = binary.LittleEndian.AppendUint16(out, entry.rights)
		out = binary.LittleEndian.AppendUint32(out, entry.id)
	}
	return out
}

// accessText formats an ACL as getfacl does: user::rw-,user:777:r--,…
func accessText(list []byte) string {
	var entries []string
	for entry := range slices.Chunk(list[min(4, len(list)):], 8) {
		if len(entry) < 8 {
			return fmt.Sprintf("%q", list)
		}
		text := ""
		for _, known := range accessTags {
			if known.tag != binary.LittleEndian.Uint16(entry) {
				continue
			}
			text = known.name
			if !strings.HasSuffix(text, ":") {
				text += fmt.Sprint(":", binary.LittleEndian.Uint32(entry[4:]))
			}
		}
		rights := fs.FileMode(binary.LittleEndian.Uint16(entry[2:])).String()
		entries = append(entries, text+":"+rights[len(rights)-3:])
	}
	return strings.Join(entries, ",")
}

// attributesOf describes owner, mode, ACL and extended attributes of those files that exist.
func attributesOf(t *testing.T, n *cluster.Node, files bed.State) bed.State {
	t.Helper()
	found := bed.State{}
	for path := range files {
		file, err := n.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		must(t, err)
		found[path], err = describe(file)
		must(t, errors.Join(err, file.Close()))
	}
	return found
}

func describe(file *os.File) (string, error) {
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	owner := info.Sys().(*syscall.Stat_t) //nolint:forcetypeassert // on Linux
	text := fmt.Sprintf("owner=%d:%d mode=%v", owner.Uid, owner.Gid, info.Mode())
	buffer := make([]byte, 64<<10)
	size, err := unix.Flistxattr(int(file.Fd()), buffer)
	if err != nil {
		return "", &os.PathError{Op: "listxattr", Path: file.Name(), Err: err}
	}
	names := slices.Sorted(strings.SplitSeq(strings.TrimSuffix(string(buffer[:size]), "\x00"), "\x00"))
	for _, name := range names {
		if name == "" {
			continue
		}
		size, err := unix.Fgetxattr(int(file.Fd()), name, buffer)
		switch {
		case err != nil:
			return "", &os.PathError{Op: "getxattr " + name, Path: file.Name(), Err: err}
		case name == accessXattr:
			text += " acl=" + accessText(buffer[:size])
		default:
			text += fmt.Sprintf(" %s=%q", name, buffer[:size])
		}
	}
	return text, nil
}

// compare compares the files that still exist, and prints each with whether its content was
// changed, which is unknown of certificates and kubeconfigs. It fails for a file that was changed,
// but is not among them.
func (l labeled) compare(t *testing.T, n *cluster.Node, after string) {
	t.Helper()
	now, contents := attributesOf(t, n, l.attributes), filesOf(t, n)
	changed, differing := 0, 0
	for _, path := range slices.Sorted(maps.Keys(now)) {
		content := "same content"
		switch {
		case contents[path] != l.contents[path]:
			content, changed = "new content", changed+1
		case contents[path] == bed.Present:
			content = "any content"
		}
		t.Logf("%s: %s, %s", path, content, now[path])
		if now[path] != l.attributes[path] {
			differing++
			t.Errorf("%s had %s, and has %s", path, l.attributes[path], now[path])
		}
	}
	if changed == 0 && after == "upgrade" {
		t.Error("the upgrade has changed no file, so nothing is compared")
	}
	for _, path := range search(t, n, "-cnewer", mark) {
		if _, compared := l.attributes[path]; !compared && slices.Contains(l.existed, path) {
			t.Errorf("%s was changed by the %s, and its attributes are not compared", path, after)
		}
	}
	name := "agent_attributes_" + n.Install() + "_" + after
	show(t, name+"_files", float64(len(now)), "files")
	show(t, name+"_changed", float64(changed), "files")
	show(t, name+"_differing", float64(differing), "files")
}

// search returns the files where an upgrade may change some, except those of the agent itself, of
// the package manager, and of the state of the kubelet.
func search(t *testing.T, n *cluster.Node, expression ...string) []string {
	t.Helper()
	out, err := n.Exec(t.Context(), slices.Concat(
		[]string{"find", "/etc", "/usr", "/opt", "/var/lib/kubelet", "-xdev", "("},
		[]string{"-path", "/etc/refit", "-o", "-path", "/etc/ld.so.cache", "-o", "-path", "/etc/kubernetes/tmp"},
		[]string{"-o", "-path", "/var/lib/kubelet/*", "!", "-name", "*.yaml", "!", "-name", "*.env", "-o", "-name", "*.refit-*"},
		[]string{")", "-prune", "-o", "-type", "f"}, expression, []string{"-print"})...)
	must(t, err)
	return slices.Collect(lines(string(out)))
}
