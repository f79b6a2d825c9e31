package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

func TestUndoWithoutYesOnlyPrints(t *testing.T) {
	h := newHost(t)
	h.journal(t, prepared()...)
	h.remembers(t, node.HostState{Format: node.HostStateFormat, MachineID: h.machine, Sequence: 12, Epoch: 2, Open: upgradeName})
	before := files(t, h.dir)
	out, err := h.run(t, "undo")
	if err != nil || !strings.Contains(out, "Nothing was changed. Run refit-agent undo --yes") {
		t.Errorf("%v\n%s", err, out)
	}
	if after := files(t, h.dir); before != after {
		t.Errorf("after:\n%s\nbefore:\n%s", after, before)
	}
}

func TestManualCommandsFailWhileTheServiceRuns(t *testing.T) {
	for _, args := range [][]string{{"undo", "--yes"}, {"forget"}} {
		t.Run(args[0], func(t *testing.T) {
			h := newHost(t)
			h.remembers(t, node.HostState{Format: node.HostStateFormat, MachineID: h.machine, Files: map[string]string{"/usr/bin/kubelet": "sha256:aa"}})
			lock, err := host.Lock(filepath.Join(h.dir, "lock"))
			if err != nil {
				t.Fatal(err)
			}
			defer lock.Close()
			out, err := h.run(t, args...)
			if err == nil || !strings.Contains(err.Error(), "systemctl stop refit-agent") || out != "" {
				t.Errorf("%v\n%s", err, out)
			}
			if len(h.memory(t).Files) != 1 {
				t.Error("the host state has changed")
			}
		})
	}
}

func TestForgetAcceptsBinariesAndKeepsTheFences(t *testing.T) {
	h := newHost(t)
	h.remembers(t, node.HostState{
		Format: node.HostStateFormat, MachineID: h.machine, NodeUID: "uid", Sequence: 12, Epoch: 2, Highest: "v1.36.3", Last: upgradeName,
		Files: map[string]string{"/usr/bin/kubelet": "sha256:aa", "/usr/bin/kubeadm": "sha256:bb"},
	})
	out, err := h.run(t, "forget")
	if err != nil || !strings.Contains(out, "Accepted 2 binaries") {
		t.Errorf("%v\n%s", err, out)
	}
	got := h.memory(t)
	if len(got.Files) != 0 || got.Sequence != 12 || got.Epoch != 2 || got.Highest != "v1.36.3" || got.Last != upgradeName || got.NodeUID != "uid" {
		t.Errorf("%+v", got)
	}
}

// writeSettings writes the settings like install.
func writeSettings(a *app, o installOptions) error {
	b := &bundle{}
	if o.givesSettings() {
		b.overlay = o.overlay
	}
	var changed changes
	if err := a.site().compareSettings(&changed, b); err != nil {
		return err
	}
	for _, file := range changed {
		if err := durable.WriteFile(file.path, file.content, file.mode); err != nil {
			return err
		}
	}
	return nil
}

func TestInstallWritesSettings(t *testing.T) {
	const before = "sources: [/srv/old]\nreservedDiskMiB: 128\n"
	for name, c := range map[string]struct {
		before string // empty if there is no file
		give   installOptions
		want   func(*settings.Settings)
	}{
		"no file":              {"", installOptions{sources: []string{"/srv/refit"}}, func(s *settings.Settings) { s.Sources = []string{"/srv/refit"} }},
		"no file, no settings": {"", installOptions{}, func(*settings.Settings) {}},
		"other settings stay": {before, installOptions{patches: "/etc/kubernetes/patches", ignore: []string{"Swap"}}, func(s *settings.Settings) {
			s.Sources, s.ReservedDiskMiB = []string{"/srv/old"}, 128
			s.Kubeadm.Patches, s.Kubeadm.IgnorePreflightErrors = "/etc/kubernetes/patches", []string{"Swap"}
		}},
		"sources are replaced": {before, installOptions{sources: []string{"https://mirror.example/refit", "oci:/srv/layout"}}, func(s *settings.Settings) {
			s.Sources, s.ReservedDiskMiB = []string{"https://mirror.example/refit", "oci:/srv/layout"}, 128
		}},
	} {
		t.Run(name, func(t *testing.T) {
			a := &app{settings: filepath.Join(t.TempDir(), "agent.yaml")}
			if c.before != "" {
				fakeHost{}.write(t, a.settings, c.before)
			}
			if err := writeSettings(a, c.give); err != nil {
				t.Fatal(err)
			}
			got, err := a.load()
			want := settings.Default()
			c.want(&want)
			if err != nil || describeSettings(got) != describeSettings(want) {
				t.Errorf("%v\n%+v, want\n%+v", err, got, want)
			}
		})
	}
}

func TestInstallWithoutSettingsKeepsTheFile(t *testing.T) {
	a := &app{settings: filepath.Join(t.TempDir(), "agent.yaml")}
	const text = "# by the platform team\nreservedDiskMiB: 128\n"
	fakeHost{}.write(t, a.settings, text)
	if err := writeSettings(a, installOptions{}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(a.settings); err != nil || string(got) != text {
		t.Errorf("%v %q", err, got)
	}
}

func TestInstallRefusesInvalidSettings(t *testing.T) {
	for name, c := range map[string]struct {
		before string
		give   installOptions
		says   string
	}{
		"unknown kind of source": {"", installOptions{sources: []string{"ftp://mirror.example/refit"}}, "is not a source"},
		"relative path":          {"", installOptions{sources: []string{"srv/refit"}}, "is not a source"},
		"invalid file":           {"stateDirectory: /x\n", installOptions{sources: []string{"/srv/refit"}}, "is not valid"},
	} {
		t.Run(name, func(t *testing.T) {
			a := &app{settings: filepath.Join(t.TempDir(), "agent.yaml")}
			if c.before != "" {
				fakeHost{}.write(t, a.settings, c.before)
			}
			if err := writeSettings(a, c.give); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q in it", err, c.says)
			}
			if got, _ := os.ReadFile(a.settings); string(got) != c.before {
				t.Errorf("the file is now %q", got)
			}
		})
	}
}

func TestUnitMatchesPaths(t *testing.T) {
	lines := strings.Split(string(unit), "\n")
	for _, line := range []string{
		"ExecStart=" + binaryFile + " run",
		"StateDirectory=" + strings.TrimPrefix(settings.Default().StateDir, "/var/lib/"),
		"Restart=always", "StartLimitIntervalSec=0", // restarted however often it dies
		"NoNewPrivileges=yes", "ProtectHome=read-only", "UMask=0077", "StateDirectoryMode=0700",
	} {
		if !slices.Contains(lines, line) {
			t.Errorf("the unit has no line %q", line)
		}
	}
	if filepath.Base(unitFile) != unitName {
		t.Errorf("%s is not named %s", unitFile, unitName)
	}
}

// files lists every file of a directory with its digest.
func files(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if entry.Type() == fs.ModeSymlink {
			to, err := os.Readlink(path)
			fmt.Fprintf(&out, "%s %s\n", path, to)
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&out, "%s %x\n", path, sha256.Sum256(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func describeSettings(s settings.Settings) string { return fmt.Sprintf("%+v", s) }
