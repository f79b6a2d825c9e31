package steps

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/cri"
	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// kubeletParts are installed together, so that the host's tools fit its kubelet.
var kubeletParts = []refitv1alpha1.Part{refitv1alpha1.PartKubeadm, refitv1alpha1.PartKubelet, refitv1alpha1.PartKubectl}

// kubeletDefaults belongs to the package of the kubelet, where there is one.
const kubeletDefaults = "/etc/default/kubelet"

// kubeletFiles are what a kubelet is started with and what an upgrade may write. Drop-ins are not among them: only a
// package writes those, and its former version restores them.
var kubeletFiles = append(kubeadm.PhaseFiles(kubeadm.PhaseKubeletConfig), kubeletDefaults)

func swapKubelet(ctx context.Context, h *Host) error {
	if err := h.track([]string{kubeletDefaults}, func() error { return h.install(ctx, kubeletParts...) }); err != nil {
		return err
	}
	if err := h.stripFlags(); err != nil {
		return err
	}
	if err := h.restartKubelet(ctx); err != nil {
		return err
	}
	return h.proveKubelet(ctx, h.Work.To)
}

func unswapKubelet(ctx context.Context, h *Host) error {
	if err := h.reinstall(ctx, kubeletParts...); err != nil {
		return err
	}
	if err := h.rollback("kubelet", kubeletFiles...); err != nil {
		return err
	}
	return h.restartKubelet(ctx)
}

// stripFlags takes out flags that kubeadm once wrote and that the new kubelet refuses.
func (h *Host) stripFlags() error {
	facts, err := h.facts()
	if err != nil {
		return err
	}
	now, err := os.ReadFile(kubeletFlags)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	next, removed := kubeadm.StripRemovedFlags(now, facts)
	if bytes.Equal(now, next) {
		return nil
	}
	h.Log.Info("flags that the new kubelet refuses are taken out", "file", kubeletFlags, "flags", removed)
	return h.track([]string{kubeletFlags}, func() error {
		return h.Effect("strip-flags", func() error { return durable.WriteFile(kubeletFlags, next, 0o644) })
	})
}

func (h *Host) restartKubelet(ctx context.Context) error {
	return h.Effect("restart-kubelet", func() error {
		if err := h.Systemd.Reload(ctx); err != nil {
			return err
		}
		return h.Systemd.Restart(ctx, kubeletUnit)
	})
}

// enoughRestarts is how often systemd may start a kubelet again before its proof is given up.
const enoughRestarts = 2

// proveKubelet asks the kubelet itself, and the API when it can be asked.
func (h *Host) proveKubelet(ctx context.Context, want string) error {
	since := time.Now()
	ctx, cancel := context.WithTimeout(ctx, h.Settings.Timeouts.Kubelet.Duration())
	defer cancel()
	restarts := -1
	lacking, err := until(ctx, 500*time.Millisecond, func(ctx context.Context) (string, error) {
		unit, err := h.Systemd.Unit(ctx, kubeletUnit)
		if lacking := says(err); lacking != "" {
			return lacking, nil
		}
		if restarts < 0 || unit.Restarts < restarts {
			restarts = unit.Restarts
		}
		if unit.Restarts-restarts >= enoughRestarts {
			return "", fmt.Errorf("it ends again and again (status %d)", unit.ExecStatus)
		}
		if unit.Sub != "running" {
			return "its service is " + unit.Active + " (" + unit.Sub + ")", nil
		}
		return h.kubeletLacks(ctx, want, unit.MainPID), nil
	})
	if err == nil {
		return h.proveNode(ctx, want)
	}
	failure := node.ManualIntervention("KubeletUnhealthy", err, "read its log (journalctl -u kubelet), mend its flags or configuration, then refit retry",
		"the kubelet of %s did not become healthy: %s", want, lacking)
	failure.LogTail = host.Tail(context.WithoutCancel(ctx), kubeletUnit, since, 40)
	return failure
}

func (h *Host) kubeletLacks(ctx context.Context, want string, pid int) string {
	if got, err := runningVersion(ctx, pid); err != nil || got != want {
		return "what runs is " + cmp.Or(got, says(err))
	}
	if lacking := healthy(ctx, kubeletHealthz()); lacking != "" {
		return lacking
	}
	return says(h.withCRI(func(client *cri.Client) error { return client.Ready(ctx) }))
}

// proveNode asks the API about a kubelet that is well by its own word. What the API does not know in time is no reason to put the host back, unless it
// says that the node is not ready.
func (h *Host) proveNode(ctx context.Context, want string) error {
	var unready bool
	lacking, err := until(ctx, 500*time.Millisecond, func(ctx context.Context) (lacking string, _ error) {
		lacking, unready = h.nodeLacks(ctx, want)
		return lacking, nil
	})
	if err == nil {
		return nil
	}
	failure := node.ManualIntervention("NodeNotReported", err, "see what keeps the kubelet from telling the API (journalctl -u kubelet), then refit retry",
		"the kubelet is healthy, but the Node is not: %s", lacking)
	failure.NoRollback = !unready
	return failure
}

// runningVersion asks the very file that runs, which need not be the one on the disk.
func runningVersion(ctx context.Context, pid int) (string, error) {
	out, err := host.Run(ctx, nil, fmt.Sprintf("/proc/%d/exe", pid), "--version")
	if err != nil {
		return "", err
	}
	fields := bytes.Fields([]byte(out.Stdout))
	if len(fields) == 0 {
		return "", errors.New("it says no version")
	}
	return string(fields[len(fields)-1]), nil
}

// kubeletHealthz is where the kubelet tells of its health, as its configuration says.
func kubeletHealthz() string {
	config := struct {
		HealthzPort        *int32 `json:"healthzPort"`
		HealthzBindAddress string `json:"healthzBindAddress"`
	}{}
	if text, err := os.ReadFile(kubeletConfig); err == nil {
		_ = yaml.Unmarshal(text, &config) // the kubelet itself judges its configuration
	}
	address, port := "127.0.0.1", int32(10248)
	if config.HealthzPort != nil && *config.HealthzPort > 0 {
		port = *config.HealthzPort
	}
	if config.HealthzBindAddress != "" && config.HealthzBindAddress != "0.0.0.0" && config.HealthzBindAddress != "::" {
		address = config.HealthzBindAddress
	}
	return "http://" + net.JoinHostPort(address, strconv.Itoa(int(port))) + "/healthz"
}

// nodeLacks asks the API whether the Node is Ready at the version. An API that cannot be asked is no reason to put a host back.
func (h *Host) nodeLacks(ctx context.Context, want string) (lacking string, unready bool) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeletConf)
	if err != nil {
		return err.Error(), false
	}
	config.Timeout = 5 * time.Second
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err.Error(), false
	}
	got, err := client.CoreV1().Nodes().Get(ctx, h.Work.NodeName, metav1.GetOptions{})
	if err != nil {
		h.Log.Info("the API cannot be asked about the node, so the kubelet's own word stands", "error", err)
		return "", false
	}
	if got.Status.NodeInfo.KubeletVersion != want {
		return "the Node is still reported at " + got.Status.NodeInfo.KubeletVersion, false
	}
	for _, c := range got.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue {
			return "the Node is not Ready: " + c.Message, c.Status == corev1.ConditionFalse
		}
	}
	return "", false
}
