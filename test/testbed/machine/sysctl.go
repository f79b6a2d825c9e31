package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// kernelSettings are the settings that a kubelet changes for the whole kernel, or that the testbed
// raises. They are restored when the last cluster is removed.
var kernelSettings = []string{
	"fs/inotify/max_user_instances",
	"fs/inotify/max_user_watches",
	"kernel/keys/root_maxbytes",
	"kernel/keys/root_maxkeys",
	"kernel/panic",
	"kernel/panic_on_oops",
	"vm/overcommit_memory",
	"vm/panic_on_oom",
}

// KernelSettings returns the current values of these settings.
func KernelSettings() (map[string]string, error) {
	values := map[string]string{}
	for _, name := range kernelSettings {
		value, err := os.ReadFile(filepath.Join("/proc/sys", name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading a kernel setting: %w", err)
		}
		values[name] = strings.TrimSpace(string(value))
	}
	return values, nil
}

// inotifyLimits are enough for many nodes, which share one user: six nodes use up the default of
// 128 instances.
var inotifyLimits = map[string]int{
	"fs/inotify/max_user_instances": 8192,
	"fs/inotify/max_user_watches":   1 << 20,
}

// RaiseKernelLimits raises limits that are too low for many nodes.
func RaiseKernelLimits() error {
	settings, err := KernelSettings()
	if err != nil {
		return err
	}
	for name, least := range inotifyLimits {
		if now, err := strconv.Atoi(settings[name]); err == nil && now >= least {
			continue
		}
		if err := os.WriteFile(filepath.Join("/proc/sys", name), []byte(strconv.Itoa(least)), 0o644); err != nil {
			return fmt.Errorf("raising a kernel limit: %w", err)
		}
	}
	return nil
}

// RememberKernelSettings writes the settings to file, unless it exists.
func RememberKernelSettings(file string) error {
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	values, err := KernelSettings()
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(values, "", "  ")
	if err != nil {
		return err
	}
	return WriteFileAtomic(file, text, 0o644)
}

// RestoreKernelSettings restores the remembered settings and removes the file.
func RestoreKernelSettings(file string) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading remembered kernel settings: %w", err)
	}
	values := map[string]string{}
	if err := json.Unmarshal(text, &values); err != nil {
		return fmt.Errorf("reading %s: %w", file, err)
	}
	for name, value := range values {
		if err := os.WriteFile(filepath.Join("/proc/sys", filepath.Clean("/"+name)), []byte(value), 0o644); err != nil {
			return fmt.Errorf("restoring a kernel setting: %w", err)
		}
	}
	return os.Remove(file)
}

// NewSuffix marks a file that is written next to the one that it replaces.
const NewSuffix = ".new"

// WriteFileAtomic replaces a file: a reader, or a run after a kill, sees either the old or the new
// content.
func WriteFileAtomic(file string, text []byte, mode os.FileMode) error {
	next := file + NewSuffix
	if err := os.WriteFile(next, text, mode); err != nil {
		return err
	}
	return os.Rename(next, file)
}
