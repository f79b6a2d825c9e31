package steps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/cri"
	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/engine/packages"
	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Paths and units of kubeadm, the kubelet and containerd.
const (
	kubernetesDir = "/etc/kubernetes"
	adminConf     = kubernetesDir + "/admin.conf"
	kubeletConf   = kubernetesDir + "/kubelet.conf"
	kubeletDir    = "/var/lib/kubelet"
	kubeletConfig = kubeletDir + "/config.yaml"
	cniDir        = "/opt/cni/bin"

	kubeletUnit    = "kubelet.service"
	containerdUnit = "containerd.service"
)

// Paths that only tests change. ManifestsDir is the directory of static pods, kubeletFlags is
// written by kubeadm, and kubeletDefaults and kubeletSysconfig belong to the kubelet's deb and rpm
// package.
var (
	ManifestsDir = kubernetesDir + "/manifests"

	kubeconfigsDir = kubernetesDir

	controllerManagerConf = kubernetesDir + "/controller-manager.conf"

	kubeletFlags     = kubeletDir + "/kubeadm-flags.env"
	kubeletDefaults  = "/etc/default/kubelet"
	kubeletSysconfig = "/etc/sysconfig/kubelet"
	containerdConfig = "/etc/containerd/config.toml"
)

// Services starts and stops the services of the host: *host.Systemd.
type Services interface {
	Unit(ctx context.Context, unit string) (host.Unit, error)
	Reload(ctx context.Context) error
	Restart(ctx context.Context, unit string) error
}

// Host is a host during an operation.
type Host struct {
	Settings  settings.Settings
	HostState node.HostState
	Upgrade   node.Upgrade
	// Dir is the directory of the operation, with all saved, rendered and prepared files.
	Dir     string
	Release artifact.Release
	// CheckRelease verifies the ClusterRelease with the keys that are pinned now.
	CheckRelease func() error
	Store        *artifact.Store
	Systemd      Services
	Log          *slog.Logger
	// Effect wraps each change to the host, so that tests can kill the agent before and after it.
	Effect func(name string, change func() error) error
	// ReportWait reports what the step waits for; an empty reason ends the wait.
	ReportWait func(reason string)
	// quorum is held while a step may restart etcd; nil if none may.
	quorum *quorum
	// Left lists the changes that an undo keeps, each with the reason.
	Left []string
}

func (h *Host) controlPlane() bool { return h.Upgrade.Role != refitv1alpha1.RoleWorker }

// path returns a path in the operation's directory.
func (h *Host) path(name ...string) string {
	return filepath.Join(append([]string{h.Dir}, name...)...)
}

// facts returns the facts about the target version.
func (h *Host) facts() (*kubefacts.Facts, error) {
	facts, known := kubefacts.For(h.Upgrade.To)
	if !known {
		return nil, node.ManualIntervention("VersionUnknown", nil, "Install a newer refit-agent, then run `refit retry`",
			"this refit-agent does not support Kubernetes %s", h.Upgrade.To)
	}
	return facts, nil
}

// kubeadm returns the target's kubeadm, which need not be installed yet.
func (h *Host) kubeadm() kubeadm.Kubeadm {
	k := kubeadm.Kubeadm{
		Path: h.path("bin", "kubeadm"), Admin: adminConf, Dir: h.path("kubeadm"),
		Patches: h.Settings.Kubeadm.Patches, IgnorePreflight: h.Settings.Kubeadm.IgnorePreflightErrors,
	}
	if !h.controlPlane() {
		k.Admin = kubeletConf
	}
	return k
}

// api returns a client with this host's own credentials.
func (h *Host) api() (kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", h.kubeadm().Admin)
	if err != nil {
		return nil, fmt.Errorf("cannot read the kubeconfig of the host: %w", err)
	}
	config.Timeout = 10 * time.Second
	return kubernetes.NewForConfig(config)
}

func (h *Host) withCRI(f func(*cri.Client) error) error {
	client, err := cri.Dial(h.Settings.CRISocket)
	if err != nil {
		return err
	}
	defer client.Close()
	return f(client)
}

// driver returns the package manager of a part, or nil for plain files.
func (h *Host) driver(part refitv1alpha1.Part) packages.Driver {
	return packages.Of(h.Upgrade.Kinds[part])
}

// writeJSON persists a value for a later step or for the agent after a restart.
func (h *Host) writeJSON(name string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(h.path(name), append(text, '\n'), 0o600)
}

func (h *Host) readJSON(name string, v any) error {
	text, err := os.ReadFile(h.path(name))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// poll calls check until it reports no problem or the context ends, and returns the last problem.
func poll(ctx context.Context, interval time.Duration, check func(context.Context) (problem string, err error)) (string, error) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for last := ""; ; {
		problem, err := check(ctx)
		if err != nil || problem == "" {
			return last, err
		}
		if ctx.Err() == nil {
			last = problem // after the deadline it is only the deadline's own error
		}
		select {
		case <-ctx.Done():
			return last, ctx.Err()
		case <-tick.C:
		}
	}
}

// errorText returns the text of an error, or "" without one.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
