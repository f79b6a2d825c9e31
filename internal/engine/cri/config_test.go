package cri

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const hostConfig = `version = 2
imports = ["extra/*.toml"] # relative

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "registry.k8s.io/pause:3.10.1"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni#odd"
    conf_dir = "/etc/other"
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "/etc/containerd/certs.d"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = true
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.gvisor]
    runtime_type = "io.containerd.runsc.v1"
`

func configFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestNewContainerdMigratesTheConfiguration(t *testing.T) {
	path := configFile(t, hostConfig)
	got, err := MigrateConfig(t.Context(), binary(t, "containerd"), path)
	if err != nil {
		t.Fatal(err)
	}
	s := settingsOf(t, string(got))
	if s.version() < 3 || s.get(under(newRuntime, "cni", "bin_dirs")...) != "[/usr/lib/cni#odd]" ||
		s.get(under(newRuntime, "containerd", "runtimes", "runc", "options", "SystemdCgroup")...) != "true" {
		t.Errorf("migrated to\n%s", got)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if now, _ := os.ReadFile(path); string(now) != hostConfig {
		t.Error("the file was changed")
	}
}

func TestCurrentConfigurationStaysUnchanged(t *testing.T) {
	containerd := binary(t, "containerd")
	text := "version = 3\n[plugins.'io.containerd.cri.v1.runtime']\n  restrict_oom_score_adj = true\n"
	if got, err := MigrateConfig(t.Context(), containerd, configFile(t, text)); err != nil || string(got) != text {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := MigrateConfig(t.Context(), containerd, filepath.Join(t.TempDir(), "none")); got != nil || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestUnsupportedConfigurationIsRefused(t *testing.T) {
	containerd := binary(t, "containerd")
	for name, text := range map[string]string{
		"not TOML": "version = 2\n[plugins", "not TOML, newer": "version = 3\n[plugins", "a later format": "version = 99\n",
	} {
		_, err := MigrateConfig(t.Context(), containerd, configFile(t, text))
		if err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		if got := reasonOf(t, err); !strings.HasPrefix(got, "Config") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestConfigurationOfTheFirstFormat(t *testing.T) {
	got, err := MigrateConfig(t.Context(), binary(t, "containerd"), configFile(t, "[plugins.cri]\n  sandbox_image = 'x:1'\n"))
	if err != nil {
		if reason := reasonOf(t, err); reason != "ConfigLost" {
			t.Errorf("reason %s", reason)
		}
	} else if !strings.Contains(string(got), "x:1") {
		t.Error("a setting was lost without an error")
	}
}

// A script simulates a containerd that drops settings.
func TestLostSettingsAreNamed(t *testing.T) {
	containerd := filepath.Join(t.TempDir(), "containerd")
	script := "#!/bin/sh\ncat <<E\nversion = 4\nimports = []\n[plugins.'io.containerd.cri.v1.images'.pinned_images]\nsandbox = 'other'\nE\n"
	if err := os.WriteFile(containerd, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := MigrateConfig(t.Context(), containerd, configFile(t, hostConfig))
	if got := reasonOf(t, err); got != "ConfigLost" {
		t.Fatalf("reason %s: %v", got, err)
	}
	for _, want := range []string{
		"sandbox_image", "restrict_oom_score_adj", "SystemdCgroup", "bin_dir", "conf_dir", "config_path", "imports", "runtime_type = io.containerd.runsc.v1",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s is not named in %v", want, err)
		}
	}
}

func TestDroppedRegistryMirrorsAreLost(t *testing.T) {
	before := settingsOf(t, "[plugins.\"io.containerd.grpc.v1.cri\".registry.mirrors.\"docker.io\"]\nendpoint = [\n  \"https://mirror\", # one\n]\n")
	if got := lostSettings(before, settings{}); !slices.Equal(got, []string{"registry.mirrors"}) {
		t.Errorf("lost: %v", got)
	}
	after := settingsOf(t, "[plugins.'io.containerd.cri.v1.images'.registry.mirrors.'docker.io']\nendpoint = ['https://mirror']\n")
	if got := lostSettings(before, after); len(got) > 0 {
		t.Errorf("lost: %v", got)
	}
}

func settingsOf(t *testing.T, text string) settings {
	t.Helper()
	s, err := readSettings(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSettingsOfATOMLFile(t *testing.T) {
	s := settingsOf(t, "a = \"x # y\" # z\nlist = [\n 'b', # first\n \"c\",\n]\n[t.\"u.v\".'w']\n  key.sub = true\n")
	for _, c := range []struct {
		want string
		key  []string
	}{
		{"x # y", []string{"a"}}, {"[b,c]", []string{"list"}}, {"true", []string{"t", "u.v", "w", "key", "sub"}},
	} {
		if got := s.get(c.key...); got != c.want {
			t.Errorf("%v: %q, want %q", c.key, got, c.want)
		}
	}
}
