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

// Where kubeadm and the kubelet keep things.
const (
	kubernetesDir = "/etc/kubernetes"
	manifestsDir  = kubernetesDir + "/manifests"
	pkiDir        = kubernetesDir + "/pki"
	adminConf     = kubernetesDir + "/admin.conf"
	kubeletConf   = kubernetesDir + "/kubelet.conf"
	kubeletDir    = "/var/lib/kubelet"
	kubeletFlags  = kubeletDir + "/kubeadm-flags.env"
	kubeletConfig = kubeletDir + "/config.yaml"
	containerdTOM = "/etc/containerd/config.toml"

	kubeletUnit    = "kubelet.service"
	containerdUnit = "containerd.service"
)

// Host is a host while a ClusterRelease is brought to it.
type Host struct {
	Settings settings.Settings
	Memory   node.HostState
	Work     node.Upgrade
	// Dir is the directory of this work: what was saved, rendered and prepared.
	Dir     string
	Release artifact.Release
	Store   *artifact.Store
	Systemd *host.Systemd
	Log     *slog.Logger
	// Effect surrounds each change of the host; tests kill the agent before and after it.
	Effect func(name string, change func() error) error
	// Say tells what is being waited for; nothing, with an empty text.
	Say func(what string)
	// Left is what the undo of a step left as it is, each with the reason.
	Left []string
}

func (h *Host) controlPlane() bool { return h.Work.Role != refitv1alpha1.RoleWorker }

// path is a place in the work's directory.
func (h *Host) path(name ...string) string {
	return filepath.Join(append([]string{h.Dir}, name...)...)
}

// facts are those of the target.
func (h *Host) facts() (*kubefacts.Facts, error) {
	facts, known := kubefacts.For(h.Work.To)
	if !known {
		return nil, node.ManualIntervention("VersionUnknown", nil, "install a newer refit-agent, then refit retry",
			"this agent knows nothing about Kubernetes %s", h.Work.To)
	}
	return facts, nil
}

// kubeadm is that of the target, as a tool: it need not be installed yet.
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

// api is the cluster's API, as this host may speak to it.
func (h *Host) api() (kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", h.kubeadm().Admin)
	if err != nil {
		return nil, fmt.Errorf("reading the host's kubeconfig: %w", err)
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

// driver is the package manager of a part, nil for plain files.
func (h *Host) driver(part refitv1alpha1.Part) packages.Driver {
	switch h.Work.Kinds[part] {
	case refitv1alpha1.PackageDeb:
		return packages.Deb()
	case refitv1alpha1.PackageRpm:
		return packages.Rpm()
	case refitv1alpha1.PackageBinary:
	}
	return nil
}

// writeJSON and readJSON keep what a later step, or another agent's life, needs to know.
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

// until asks again and again until it is told nothing is lacking, or the time is over; then the failure says what was.
func until(ctx context.Context, every time.Duration, ask func(context.Context) (lacking string, err error)) (string, error) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for last := ""; ; {
		lacking, err := ask(ctx)
		if err != nil || lacking == "" {
			return last, err
		}
		if ctx.Err() == nil {
			last = lacking // what is said once the time is over speaks of the end, not of the host
		}
		select {
		case <-ctx.Done():
			return last, ctx.Err()
		case <-tick.C:
		}
	}
}

// says is an error's text, and nothing without one.
func says(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
