//go:build e2e

package agent

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// TestAgentAttributes gives every file that an upgrade may change an unusual owner and mode, an ACL
// and extended attributes, and compares them after an upgrade and after a rollback. It shows that a
// label is kept, not that SELinux enforces it.
func TestAgentAttributes(t *testing.T) {
	for kind, spec := range map[string]cluster.Spec{
		"binaries": {Name: "attrbin", Kubernetes: older, Disk: diskSize, Install: builder.InstallBinaries, Containerd: builder.ContainerdBuilt},
		"packages": {Name: "attrdeb", Kubernetes: older, Disk: diskSize, Install: builder.InstallDeb, Containerd: builder.ContainerdDebian},
	} {
		t.Run(kind, func(t *testing.T) {
			b := newBed(t, spec)
			n := b.First(cluster.RoleControlPlane)
			r := b.CreateRelease(t, newer)
			contents := filesOf(t, n)
			label(t, n, slices.Sorted(maps.Keys(contents)))
			must(t, b.WaitRecovered(t.Context(), recovery))
			before := attributesOf(t, n, contents)

			b.prefetch(t, r, n)
			b.apply(t, n)
			must(t, b.WaitReady(t.Context(), recovery))
			compareAttributes(t, n, kind+"_upgrade", before, contents)

			_, err := n.Exec(t.Context(), "systemctl", "stop", agentUnit)
			must(t, err)
			must(t, undo(t, n))
			b.wentBack(t, n)
			compareAttributes(t, n, kind+"_rollback", before, contents)
		})
	}
}

// filesOf returns the digests of the files that an upgrade may change.
func filesOf(t *testing.T, n *cluster.Node) bed.State {
	t.Helper()
	state, err := bed.StateOf(t.Context(), n)
	must(t, err)
	maps.DeleteFunc(state, func(name, _ string) bool { return !strings.HasPrefix(name, "/") })
	return state
}

const (
	templates = "/root/templates"
	labeled   = templates + "/copy"
)

// label replaces files by copies with the attributes of a template, since a running binary cannot
// be opened for it, and restarts the node.
func label(t *testing.T, n *cluster.Node, files []string) {
	t.Helper()
	run := func(in io.Reader, argv ...string) string {
		t.Helper()
		out, err := n.ExecInput(t.Context(), in, argv...)
		must(t, err)
		return string(out)
	}
	run(nil, "mkdir", "-p", templates)
	run(bytes.NewReader(templateArchive(t)), "tar", "--extract", "--xattrs", "--xattrs-include=*", "--acls", "--directory", templates, "--file", "-")
	executables := strings.Fields(run(nil, slices.Concat([]string{"find"}, files, []string{"-perm", "/111"})...))
	for _, file := range files {
		template := templates + "/plain"
		if slices.Contains(executables, file) {
			template = templates + "/executable"
		}
		preserve := "--preserve=mode,ownership,xattr"
		if _, err := n.Exec(t.Context(), "dpkg-query", "--search", "*"+file); err == nil {
			preserve = "--preserve=xattr" // the package, which may list /usr/lib for /lib, decides about the rest
		}
		run(nil, "cp", "--preserve=all", file, labeled)
		run(nil, "cp", "--attributes-only", preserve, template, labeled)
		run(nil, "mv", labeled, file)
	}
	must(t, n.Poweroff(t.Context()))
	must(t, n.Start(t.Context()))
}

// templateArchive has an empty file for binaries and one for all others.
func templateArchive(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	archive := tar.NewWriter(&out)
	for name, mode := range map[string]uint16{"plain": 6, "executable": 7} {
		must(t, archive.WriteHeader(&tar.Header{
			Name: name, Mode: int64(mode) << 6, Uid: 12345, Gid: 54321, Format: tar.FormatPAX,
			PAXRecords: map[string]string{
				"SCHILY.xattr.user.origin":             "golden image",
				"SCHILY.xattr.security.selinux":        "system_u:object_r:" + name + "_t:s0\x00",
				"SCHILY.xattr.system.posix_acl_access": string(accessList(mode)),
			},
		}))
	}
	must(t, archive.Close())
	return out.Bytes()
}

// accessList is an ACL: the owner has all rights of the mode, user 777 may read and execute.
func accessList(mode uint16) []byte {
	const nobody = 1<<32 - 1
	out := binary.LittleEndian.AppendUint32(nil, 2)
	for _, entry := range []struct {
		tag, rights uint16
		id          uint32
	}{{1, mode, nobody}, {2, mode &^ 2, 777}, {4, 0, nobody}, {16, mode &^ 2, nobody}, {32, 0, nobody}} {
		out = binary.LittleEndian.AppendUint16(out, entry.tag)
		out = binary.LittleEndian.AppendUint16(out, entry.rights)
		out = binary.LittleEndian.AppendUint32(out, entry.id)
	}
	return out
}

// attributesOf describes owner, mode, ACL and extended attributes of those files that exist.
func attributesOf(t *testing.T, n *cluster.Node, files bed.State) bed.State {
	t.Helper()
	const copies = "/root/attributes"
	run := func(argv ...string) []byte {
		t.Helper()
		out, err := n.Exec(t.Context(), argv...)
		must(t, err)
		return out
	}
	run("rm", "-rf", copies)
	run("mkdir", copies)
	present := slices.DeleteFunc(slices.Sorted(maps.Keys(files)), func(file string) bool {
		_, err := n.Exec(t.Context(), "test", "-f", file)
		return err != nil
	})
	run(slices.Concat([]string{"cp", "--attributes-only", "--preserve=mode,ownership,xattr", "--parents"}, present, []string{copies})...)
	archive := tar.NewReader(bytes.NewReader(run("tar", "--create", "--xattrs", "--xattrs-include=*", "--directory", copies, "--file", "-", ".")))
	found := bed.State{}
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		must(t, err)
		if header.Typeflag != tar.TypeReg {
			continue
		}
		text := fmt.Sprintf("%d:%d %o", header.Uid, header.Gid, header.Mode)
		for _, name := range slices.Sorted(maps.Keys(header.PAXRecords)) {
			if attribute, ok := strings.CutPrefix(name, "SCHILY.xattr."); ok {
				text += fmt.Sprintf(" %s=%q", attribute, header.PAXRecords[name])
			}
		}
		found[strings.TrimPrefix(header.Name, ".")] = text
	}
}

// compareAttributes compares the files that still exist, and prints each with whether its content
// was changed.
func compareAttributes(t *testing.T, n *cluster.Node, name string, before, contents bed.State) {
	t.Helper()
	after, now := attributesOf(t, n, before), filesOf(t, n)
	changed, differing := 0, 0
	for _, file := range slices.Sorted(maps.Keys(after)) {
		content := "same content"
		if now[file] != contents[file] {
			content, changed = "new content", changed+1
		}
		t.Logf("%s: %s, %s", file, content, after[file])
		if after[file] != before[file] {
			differing++
			t.Errorf("%s had %s, and has %s", file, before[file], after[file])
		}
	}
	if changed == 0 && strings.HasSuffix(name, "upgrade") {
		t.Error("the upgrade has changed no file, so nothing is compared")
	}
	show(t, "agent_attributes_"+name+"_files", float64(len(after)), "files")
	show(t, "agent_attributes_"+name+"_changed", float64(changed), "files")
	show(t, "agent_attributes_"+name+"_differing", float64(differing), "files")
}
