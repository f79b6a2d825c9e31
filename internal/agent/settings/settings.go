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

// File is where the settings lie, Keys the directory of the public keys whose ClusterReleases may be installed.
const (
	File = "/etc/refit/agent.yaml"
	Keys = "/etc/refit/keys"
)

// Settings are the host's own.
type Settings struct {
	// Sources are where files come from, tried in order: a folder, an http(s) address, oci:/path. The addresses that a ClusterRelease names come last.
	Sources []string `json:"sources,omitempty"`
	Kubeadm Kubeadm  `json:"kubeadm,omitzero"`
	// StateDir is where the agent keeps its journal, its store and what it saved.
	StateDir string `json:"stateDir,omitempty"`
	// CRISocket is the container runtime's.
	CRISocket string `json:"criSocket,omitempty"`
	// ReserveMiB is the room that is set aside for the way back.
	ReserveMiB int64 `json:"reserveMiB,omitempty"`
	// AsideAPIServer takes the API server away while its etcd is swapped. It shortens the time without an API.
	AsideAPIServer bool `json:"asideAPIServer"`
	// Patience is how long each part may take to become healthy.
	Patience Patience `json:"patience,omitzero"`
}

// Kubeadm is what kubeadm does not remember.
type Kubeadm struct {
	// Patches is the directory of the host's patches.
	Patches string `json:"patches,omitempty"`
	// IgnorePreflightErrors are checks of kubeadm whose errors do not matter on this host.
	IgnorePreflightErrors []string `json:"ignorePreflightErrors,omitempty"`
}

// Patience is how long each part may take to become healthy after its swap, before the host goes back.
type Patience struct {
	Etcd        Seconds `json:"etcdSeconds,omitempty"`
	APIServer   Seconds `json:"apiServerSeconds,omitempty"`
	Controllers Seconds `json:"controllersSeconds,omitempty"`
	Containerd  Seconds `json:"containerdSeconds,omitempty"`
	Kubelet     Seconds `json:"kubeletSeconds,omitempty"`
}

// Seconds is a time in whole seconds.
type Seconds int64

// Duration is the time as Go counts it.
func (s Seconds) Duration() time.Duration { return time.Duration(s) * time.Second }

// Default is what holds where the file says nothing.
func Default() Settings {
	return Settings{
		StateDir:   "/var/lib/refit",
		CRISocket:  "/run/containerd/containerd.sock",
		ReserveMiB: 64, AsideAPIServer: true,
		Patience: Patience{Etcd: 120, APIServer: 150, Controllers: 90, Containerd: 60, Kubelet: 90},
	}
}

// Load reads the file; without one the defaults hold. A field that this version does not know is an error: it may have been meant to protect something.
func Load(path string) (Settings, error) {
	s := Default()
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = yaml.UnmarshalStrict(text, &s)
	}
	if err == nil {
		err = s.validate()
	}
	if err != nil {
		return s, node.ManualIntervention("SettingsInvalid", err, "mend "+path+", then systemctl restart refit-agent", "%s cannot be used", path)
	}
	return s, nil
}

func (s *Settings) validate() error {
	for _, dir := range []string{s.StateDir, s.Kubeadm.Patches} {
		if dir != "" && !filepath.IsAbs(dir) {
			return fmt.Errorf("%q is no absolute path", dir)
		}
	}
	if s.ReserveMiB < 1 || s.ReserveMiB > 4096 {
		return fmt.Errorf("reserveMiB is %d, it may be 1 to 4096", s.ReserveMiB)
	}
	p := s.Patience
	if shortest := slices.Min([]Seconds{p.Etcd, p.APIServer, p.Controllers, p.Containerd, p.Kubelet}); shortest < 5 {
		return fmt.Errorf("a patience of %d s is too short: at least 5", shortest)
	}
	return nil
}

// The places below StateDir.
func (s *Settings) path(name ...string) string {
	return filepath.Join(append([]string{s.StateDir}, name...)...)
}

// LockFile keeps a second agent from this host.
func (s *Settings) LockFile() string { return s.path("lock") }

// MemoryFile is what the host remembers from one order to the next.
func (s *Settings) MemoryFile() string { return s.path("memory.json") }

// StoreDir holds files by their digest.
func (s *Settings) StoreDir() string { return s.path("store") }

// ReleasesDir holds the signed envelopes that were accepted.
func (s *Settings) ReleasesDir() string { return s.path("releases") }

// WorkDir holds a journal each, and what was saved.
func (s *Settings) WorkDir() string { return s.path("work") }

// ReserveFile is the room for the way back.
func (s *Settings) ReserveFile() string { return s.path("reserve") }
