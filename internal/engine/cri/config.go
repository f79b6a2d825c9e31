package cri

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// MigrateConfig returns containerd's configuration as a newer containerd migrates it. It writes
// nothing. It returns nil if there is no file, and the unchanged text if no migration is needed.
//
//  1. The new containerd migrates the file, and must then load the result.
//  2. The settings that this host depends on must be in the result: a lost setting shows only
//     when pods no longer start.
func MigrateConfig(ctx context.Context, newContainerd, path string) ([]byte, error) {
	old, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the configuration of containerd: %w", err)
	}
	before, err := readSettings(string(old))
	if err != nil {
		return nil, node.ManualIntervention("ConfigUnreadable", err, configRemedy, "%s is not TOML", path)
	}
	before = before.withFullNames()
	if before.version() >= 3 {
		_, err := load(ctx, newContainerd, path, old)
		return old, err
	}
	migrated, err := run(ctx, newContainerd, "--config", path, "config", "migrate")
	if err != nil {
		return nil, failed(ctx, err, "ConfigNotMigrated", configRemedy, "the new containerd cannot migrate %s", path)
	}
	loaded, err := load(ctx, newContainerd, path, migrated)
	if err != nil {
		return nil, err
	}
	after, err := readSettings(loaded)
	if err != nil {
		return nil, fmt.Errorf("cannot parse the migrated configuration of %s: %w", path, err)
	}
	if lost := lostSettings(before, after); len(lost) > 0 {
		return nil, node.ManualIntervention("ConfigLost", nil, configRemedy, "the new containerd would drop settings of %s: %s", path, strings.Join(lost, "; "))
	}
	return migrated, nil
}

const configRemedy = "Change the configuration of containerd on the host so that the new version accepts it " +
	"(`containerd config migrate` shows the result), then run `refit retry`"

// load makes the new containerd read a text as at its start. The text is next to the real file,
// because imports can be relative to it; its name has no extension that an import could match.
func load(ctx context.Context, newContainerd, path string, text []byte) (effective string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".refit-config-")
	if err != nil {
		return "", fmt.Errorf("cannot check the configuration of containerd: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("cannot check the configuration of containerd: %w", err)
	}
	out, err := run(ctx, newContainerd, "--config", f.Name(), "config", "dump")
	if err != nil {
		return "", failed(ctx, err, "ConfigNotLoaded", configRemedy, "the new containerd cannot load the configuration of %s", path)
	}
	return string(out), nil
}

// version returns the version of the file format; without one it is the first.
func (s settings) version() int {
	v, err := strconv.Atoi(s.get("version"))
	if err != nil {
		return 1
	}
	return v
}

// withFullNames replaces the short name of the CRI plugin in files of the first format.
func (s settings) withFullNames() settings {
	full := settings{}
	for key, value := range s {
		if below, ok := strings.CutPrefix(key, "plugins\ncri\n"); ok {
			key = strings.Join(oldCRI, "\n") + "\n" + below
		}
		full[key] = value
	}
	return full
}

// moved is a setting and its places in newer versions. The first place that is set counts.
type moved struct {
	from []string
	to   [][]string
}

var (
	oldCRI     = []string{"plugins", "io.containerd.grpc.v1.cri"}
	newImages  = []string{"plugins", "io.containerd.cri.v1.images"}
	newRuntime = []string{"plugins", "io.containerd.cri.v1.runtime"}
)

func under(parent []string, key ...string) []string {
	return append(append([]string{}, parent...), key...)
}

// tracked has the settings that a host depends on.
var tracked = []moved{
	{under(oldCRI, "sandbox_image"), [][]string{under(newImages, "pinned_images", "sandbox")}},
	{under(oldCRI, "restrict_oom_score_adj"), [][]string{under(newRuntime, "restrict_oom_score_adj")}},
	{under(oldCRI, "enable_selinux"), [][]string{under(newRuntime, "enable_selinux")}},
	{under(oldCRI, "disable_apparmor"), [][]string{under(newRuntime, "disable_apparmor")}},
	{under(oldCRI, "enable_unprivileged_ports"), [][]string{under(newRuntime, "enable_unprivileged_ports")}},
	{under(oldCRI, "cni", "bin_dir"), [][]string{under(newRuntime, "cni", "bin_dirs"), under(newRuntime, "cni", "bin_dir")}},
	{under(oldCRI, "cni", "conf_dir"), [][]string{under(newRuntime, "cni", "conf_dir")}},
	{under(oldCRI, "registry", "config_path"), [][]string{under(newImages, "registry", "config_path")}},
	{under(oldCRI, "containerd", "snapshotter"), [][]string{under(newImages, "snapshotter")}},
	{under(oldCRI, "containerd", "default_runtime_name"), [][]string{under(newRuntime, "containerd", "default_runtime_name")}},
	{[]string{"root"}, [][]string{{"root"}}},
	{[]string{"state"}, [][]string{{"state"}}},
	{[]string{"imports"}, [][]string{{"imports"}}},
	{[]string{"grpc", "address"}, [][]string{{"plugins", "io.containerd.server.v1.grpc", "address"}, {"grpc", "address"}}},
}

// lostSettings returns the settings of the old file that the new one lacks or changes.
func lostSettings(before, after settings) []string {
	var lost []string
	for _, m := range append(runtimes(before), tracked...) {
		if before.has(m.from...) && !kept(before.get(m.from...), after, m.to) {
			lost = append(lost, fmt.Sprintf("%s = %s", m.from[len(m.from)-1], before.get(m.from...)))
		}
	}
	// Newer versions drop these older tables.
	for _, table := range []string{"mirrors", "configs"} {
		if before.below(under(oldCRI, "registry", table)...) && !after.below(under(newImages, "registry", table)...) {
			lost = append(lost, "registry."+table)
		}
	}
	return lost
}

// runtimes returns the settings of each runtime in the old file.
func runtimes(before settings) []moved {
	var all []moved
	prefix := strings.Join(under(oldCRI, "containerd", "runtimes"), "\n") + "\n"
	for key := range before {
		if below, ok := strings.CutPrefix(key, prefix); ok {
			tail := strings.Split(below, "\n")
			switch tail[len(tail)-1] {
			case "runtime_type", "SystemdCgroup", "BinaryName", "base_runtime_spec", "privileged_without_host_devices", "snapshotter":
				all = append(all, moved{
					under(oldCRI, append([]string{"containerd", "runtimes"}, tail...)...),
					[][]string{under(newRuntime, append([]string{"containerd", "runtimes"}, tail...)...)},
				})
			}
		}
	}
	return all
}

// kept reports whether a value is still set. One value may have become a list of one, and a list
// may have grown.
func kept(value string, after settings, places [][]string) bool {
	for _, place := range places {
		if !after.has(place...) {
			continue
		}
		now := after.get(place...)
		return now == value || now == "["+value+"]" || strings.HasPrefix(value, "[") && contains(now, value)
	}
	return value == "" || value == "[]" || value == "false"
}

func contains(list, part string) bool {
	have := strings.Split(strings.Trim(list, "[]"), ",")
	for want := range strings.SplitSeq(strings.Trim(part, "[]"), ",") {
		found := false
		for _, h := range have {
			found = found || h == want
		}
		if !found {
			return false
		}
	}
	return true
}
