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
	"strings"
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

// kubeletParts are installed together, so that kubeadm and kubectl match the kubelet.
var kubeletParts = []refitv1alpha1.Part{refitv1alpha1.PartKubeadm, refitv1alpha1.PartKubelet, refitv1alpha1.PartKubectl}

// kubeletFiles configure the kubelet and may be written by an upgrade. Drop-ins are not among them:
// only a package writes those, and installing its previous version restores them.
func kubeletFiles() []string {
	return append(kubeadm.PhaseFiles(kubeadm.PhaseKubeletConfig), packagedConfig()...)
}

// packagedConfig has the kubelet's flags of the operator, in a file of its package.
func packagedConfig() []string { return []string{kubeletDefaults, kubeletSysconfig} }

func swapKubelet(ctx context.Context, h *Host) error {
	if err := h.mayInstall(ctx, kubeletParts...); err != nil {
		return err
	}
	if err := h.track(packagedConfig(), func() error { return h.install(ctx, kubeletParts...) }); err != nil {
		return err
	}
	if err := h.stripFlags(); err != nil {
		return err
	}
	if err := h.mayRestartEtcd(ctx); err != nil {
		return err
	}
	if err := h.restartKubelet(ctx); err != nil {
		return err
	}
	if err := h.proveKubelet(ctx, h.Upgrade.To); err != nil {
		return err
	}
	return h.awaitEtcd(ctx)
}

func undoKubelet(ctx context.Context, h *Host) error {
	if err := h.reinstall(ctx, kubeletParts...); err != nil {
		return err
	}
	if err := h.rollback("kubelet", kubeletFiles()...); err != nil {
		return err
	}
	if err := h.mayRestartEtcd(ctx); err != nil {
		return err
	}
	if err := h.restartKubelet(ctx); err != nil {
		return err
	}
	return h.awaitEtcd(ctx)
}

// stripFlags removes flags that an older kubeadm wrote and the new kubelet rejects.
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
	h.Log.Info("removing flags that the new kubelet rejects", "file", kubeletFlags, "flags", removed)
	return h.track([]string{kubeletFlags}, func() error {
		return h.Effect("strip-flags", func() error { return durable.ReplaceFile(kubeletFlags, next, 0o644) })
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

// restartLimit is the number of restarts by systemd after which the kubelet counts as failed.
const restartLimit = 2

// proveKubelet waits until the kubelet is healthy and, if the API is reachable, its Node is Ready.
func (h *Host) proveKubelet(ctx context.Context, want string) error {
	since := time.Now()
	ctx, cancel := context.WithTimeout(ctx, h.Settings.Timeouts.Kubelet.Duration())
	defer cancel()
	restarts := -1
	problem, err := poll(ctx, 500*time.Millisecond, func(ctx context.Context) (string, error) {
		unit, err := h.Systemd.Unit(ctx, kubeletUnit)
		if problem := errorText(err); problem != "" {
			return problem, nil
		}
		if restarts < 0 || unit.Restarts < restarts {
			restarts = unit.Restarts
		}
		if unit.Restarts-restarts >= restartLimit {
			return "", fmt.Errorf("it keeps exiting (status %d)", unit.ExecStatus)
		}
		if unit.Sub != "running" {
			return "its service is " + unit.Active + " (" + unit.Sub + ")", nil
		}
		return h.kubeletProblem(ctx, want, unit.MainPID), nil
	})
	if err == nil {
		return h.proveNode(ctx, want)
	}
	failure := node.ManualIntervention("KubeletUnhealthy", err,
		"Check its log (`journalctl -u kubelet`), fix its flags or configuration, then run `refit retry`",
		"the kubelet %s is not healthy: %s", want, problem)
	failure.LogTail = host.Tail(context.WithoutCancel(ctx), kubeletUnit, since, 40)
	return failure
}

func (h *Host) kubeletProblem(ctx context.Context, want string, pid int) string {
	if got, err := runningVersion(ctx, pid); err != nil || got != want {
		return "the running version is " + cmp.Or(got, errorText(err))
	}
	if problem := probeHealth(ctx, kubeletHealthz(argsOf(pid))); problem != "" {
		return problem
	}
	return errorText(h.withCRI(func(client *cri.Client) error { return client.Ready(ctx) }))
}

// proveNode waits until the API reports the Node of a healthy kubelet as Ready. A stale Node does
// not roll the host back; a Node that is not Ready does.
func (h *Host) proveNode(ctx context.Context, want string) error {
	var unready bool
	problem, err := poll(ctx, 500*time.Millisecond, func(ctx context.Context) (problem string, _ error) {
		problem, unready = h.nodeProblem(ctx, want)
		return problem, nil
	})
	if err == nil {
		return nil
	}
	failure := node.ManualIntervention("NodeNotReported", err, "Check why the kubelet cannot update its Node (`journalctl -u kubelet`), then run `refit retry`",
		"the kubelet is healthy, but its Node is not: %s", problem)
	failure.NoRollback = !unready
	return failure
}

// runningVersion runs the binary of the process, which may differ from the file on disk.
func runningVersion(ctx context.Context, pid int) (string, error) {
	out, err := host.Run(ctx, nil, fmt.Sprintf("/proc/%d/exe", pid), "--version")
	if err != nil {
		return "", err
	}
	fields := bytes.Fields([]byte(out.Stdout))
	if len(fields) == 0 {
		return "", errors.New("it reports no version")
	}
	return string(fields[len(fields)-1]), nil
}

// argsOf returns the arguments of a process, or nothing if it has ended.
func argsOf(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
}

// kubeletHealthz returns the URL of the health endpoint of a kubelet with these arguments.
func kubeletHealthz(args []string) string {
	config := struct {
		HealthzPort        *int32 `json:"healthzPort"`
		HealthzBindAddress string `json:"healthzBindAddress"`
	}{}
	if text, err := os.ReadFile(cmp.Or(kubeadm.KubeletConfigFile(args), kubeletConfig)); err == nil {
		_ = yaml.Unmarshal(text, &config) // the kubelet validates its configuration
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

// nodeProblem returns "" if the Node is Ready at the version, or if the API is unreachable.
func (h *Host) nodeProblem(ctx context.Context, want string) (problem string, unready bool) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeletConf)
	if err != nil {
		return err.Error(), false
	}
	config.Timeout = 5 * time.Second
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err.Error(), false
	}
	got, err := client.CoreV1().Nodes().Get(ctx, h.Upgrade.NodeName, metav1.GetOptions{})
	if err != nil {
		h.Log.Info("cannot get the Node; relying on the health endpoint of the kubelet", "error", err)
		return "", false
	}
	if got.Status.NodeInfo.KubeletVersion != want {
		return "the Node still reports " + got.Status.NodeInfo.KubeletVersion, false
	}
	for _, c := range got.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue {
			return "the Node is not Ready: " + c.Message, c.Status == corev1.ConditionFalse
		}
	}
	return "", false
}
