package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// File is the path of the settings, Keys the directory of the public keys that ClusterReleases must
// be signed with.
const (
	File = "/etc/refit/agent.yaml"
	Keys = "/etc/refit/keys"
)

// Settings are the settings of a host.
type Settings struct {
	// Sources are the sources of files, in order: directories, https://, http://, oci:/path. The
	// addresses in a ClusterRelease come last.
	Sources []string `json:"sources,omitempty"`
	Kubeadm Kubeadm  `json:"kubeadm,omitzero"`
	// StateDir is the directory of the agent's journals, store and saved files.
	StateDir string `json:"stateDir,omitempty"`
	// CRISocket is the socket of the container runtime.
	CRISocket string `json:"criSocket,omitempty"`
	// ReservedDiskMiB is the disk space that is reserved for a rollback in StateDir. The agent adds
	// what the rollback of packages and configuration needs, on each file system.
	ReservedDiskMiB int64 `json:"reservedDiskMiB,omitempty"`
	// StopAPIServerDuringEtcdUpgrade stops the API server while its etcd member is upgraded, which
	// shortens the API downtime.
	StopAPIServerDuringEtcdUpgrade bool `json:"stopAPIServerDuringEtcdUpgrade"`
	// Timeouts are the times that components may take to become healthy.
	Timeouts Timeouts `json:"timeouts,omitzero"`
}

// Kubeadm contains settings that kubeadm does not store.
type Kubeadm struct {
	// Patches is the directory of kubeadm patches of the host.
	Patches string `json:"patches,omitempty"`
	// IgnorePreflightErrors are kubeadm preflight checks whose errors are ignored on this host.
	IgnorePreflightErrors []string `json:"ignorePreflightErrors,omitempty"`
}

// Timeouts are the times that components may take to become healthy after their upgrade. After a
// timeout, the host is rolled back.
type Timeouts struct {
	Etcd        Seconds `json:"etcdSeconds,omitempty"`
	APIServer   Seconds `json:"apiServerSeconds,omitempty"`
	Controllers Seconds `json:"controllersSeconds,omitempty"`
	Containerd  Seconds `json:"containerdSeconds,omitempty"`
	Kubelet     Seconds `json:"kubeletSeconds,omitempty"`
}

// Seconds is a duration in whole seconds.
type Seconds int64

// Duration returns the duration as a time.Duration.
func (s Seconds) Duration() time.Duration { return time.Duration(s) * time.Second }

// Default returns the default settings.
func Default() Settings {
	return Settings{
		StateDir:                       "/var/lib/refit",
		CRISocket:                      "/run/containerd/containerd.sock",
		ReservedDiskMiB:                64,
		StopAPIServerDuringEtcdUpgrade: true,
		Timeouts:                       Timeouts{Etcd: 120, APIServer: 150, Controllers: 90, Containerd: 60, Kubelet: 90},
	}
}

// Load reads the settings from a file; without one the defaults apply. An unknown field is an
// error: it may be a misspelled safeguard.
func Load(path string) (Settings, error) {
	s := Default()
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("cannot read the settings: %w", err)
	}
	if err := s.decode(text); err != nil {
		return s, invalid(err, text, path, "`systemctl restart refit-agent`", "%s is not valid", path)
	}
	return s, nil
}

// Overlay returns the settings, overridden by those of a file for many hosts. Fields that the file
// does not set stay.
func (s Settings) Overlay(text []byte) (Settings, error) {
	s.Sources = slices.Clone(s.Sources) // the decoder would write to the existing list
	s.Kubeadm.IgnorePreflightErrors = slices.Clone(s.Kubeadm.IgnorePreflightErrors)
	if err := s.decode(text); err != nil {
		return s, invalid(err, text, "the settings for all hosts", "`refit install`", "the settings for this host are not valid")
	}
	return s, nil
}

func (s *Settings) decode(text []byte) error {
	if err := yaml.UnmarshalStrict(text, s); err != nil {
		return err
	}
	return s.validate()
}

func invalid(err error, text []byte, where, then, format string, args ...any) error {
	remedy := fmt.Sprintf("Fix %s, then run %s", where, then)
	if names := renames(text); names != "" {
		remedy = fmt.Sprintf("%s in %s, then run %s", names, where, then)
	}
	return node.ManualIntervention("SettingsInvalid", err, remedy, format, args...)
}

func (s *Settings) validate() error {
	for _, dir := range []string{s.StateDir, s.Kubeadm.Patches} {
		if dir != "" && !filepath.IsAbs(dir) {
			return fmt.Errorf("%q is not an absolute path", dir)
		}
	}
	if s.ReservedDiskMiB < 1 || s.ReservedDiskMiB > 4096 {
		return fmt.Errorf("reservedDiskMiB is %d, but must be 1 to 4096", s.ReservedDiskMiB)
	}
	t := s.Timeouts
	if shortest := slices.Min([]Seconds{t.Etcd, t.APIServer, t.Controllers, t.Containerd, t.Kubelet}); shortest < 5 {
		return fmt.Errorf("a timeout of %d s is too short: the minimum is 5 s", shortest)
	}
	return nil
}
