package steps

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/refit-dev/refit/internal/engine/cri"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// readerStopTimeout is the timeout of the container runtime for a pod that is restarted. kube-vip
// gives up its Lease meanwhile.
const readerStopTimeout = 10 * time.Second

// reader is a container of a static pod that mounts a renewed kubeconfig.
type reader struct {
	namespace, pod, container string

	kubeconfig string
	renewed    time.Time
	// stays is why the pod is not restarted, empty if it is.
	stays string
}

// restartReaders restarts static pods, such as kube-vip, that have read a kubeconfig before it was
// renewed: software that reads it only at its start fails when the certificate in it expires.
// The kubelet starts a container again that has exited.
//
// This is done before the API server of the host stops. kube-vip gives up its Lease when it is
// stopped, so the address moves at once, and not only when the Lease has expired.
func restartReaders(ctx context.Context, h *Host) error {
	readers, err := h.readers()
	if err != nil {
		return err
	}
	for _, r := range readers {
		stale, err := h.staleContainers(ctx, r)
		if err != nil {
			return err
		}
		if len(stale) > 0 && r.stays != "" {
			h.Log.Warn("a static pod uses a kubeconfig from before its renewal: restart it before the previous certificate expires",
				"pod", r.namespace+"/"+r.pod, "kubeconfig", r.kubeconfig, "reason", r.stays)
			continue
		}
		for _, id := range stale {
			if err := h.restartReader(ctx, r, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// finishReaders starts again what an interrupted restart has stopped. The renewed kubeconfigs stay,
// so the pods stay restarted.
func finishReaders(ctx context.Context, h *Host) error {
	if err := restartReaders(ctx, h); err != nil {
		return err
	}
	return node.ErrKept
}

// restartReader stops a container and waits until the kubelet has started its successor.
func (h *Host) restartReader(ctx context.Context, r reader, id string) error {
	h.Log.Info("restarting a static pod, because its kubeconfig was renewed", "pod", r.namespace+"/"+r.pod, "kubeconfig", r.kubeconfig)
	err := h.Effect("restart-pod", func() error {
		return h.withCRI(func(client *cri.Client) error { return client.StopContainer(ctx, id, readerStopTimeout) })
	})
	if err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, restartTimeout)
	defer cancel()
	problem, err := poll(waiting, 200*time.Millisecond, func(ctx context.Context) (string, error) {
		containers, err := h.runningContainers(ctx, r)
		if slices.ContainsFunc(containers, func(c cri.Container) bool { return c.ID != id }) {
			return "", nil
		}
		return cmp.Or(errorText(err), "it has no running container"), nil
	})
	if err != nil {
		return node.ManualIntervention("PodNotRestarted", err,
			"Check why the kubelet does not start it (`journalctl -u kubelet -u containerd`), then run `refit retry`",
			"the static pod %s/%s was stopped, so that it reads the renewed %s, and does not run again: %s", r.namespace, r.pod, r.kubeconfig, problem)
	}
	return nil
}

// readersCurrent reports whether no static pod has to be restarted.
func readersCurrent(ctx context.Context, h *Host) (bool, error) {
	readers, err := h.readers()
	if err != nil {
		return false, err
	}
	for _, r := range readers {
		if stale, err := h.staleContainers(ctx, r); err != nil || len(stale) > 0 && r.stays == "" {
			return false, err
		}
	}
	return true, nil
}

// staleContainers returns the running containers that started before the kubeconfig was renewed.
func (h *Host) staleContainers(ctx context.Context, r reader) ([]string, error) {
	containers, err := h.runningContainers(ctx, r)
	var stale []string
	for _, c := range containers {
		if c.Started.Before(r.renewed) {
			stale = append(stale, c.ID)
		}
	}
	return stale, err
}

func (h *Host) runningContainers(ctx context.Context, r reader) (containers []cri.Container, err error) {
	err = h.withCRI(func(client *cri.Client) error {
		containers, err = client.ContainersOfPod(ctx, r.namespace, r.pod, r.container)
		return err
	})
	return slices.DeleteFunc(containers, func(c cri.Container) bool { return c.State != cri.StateRunning }), err
}

// readers returns the containers of static pods, other than kubeadm's, that mount a kubeconfig
// which kubeadm renews.
func (h *Host) readers() ([]reader, error) {
	entries, err := os.ReadDir(ManifestsDir)
	if err != nil {
		return nil, err
	}
	var found []reader
	for _, entry := range entries {
		component := strings.TrimSuffix(entry.Name(), ".yaml")
		if entry.IsDir() || strings.HasPrefix(entry.Name(), ".") || slices.Contains(kubeadm.Components(), component) {
			continue
		}
		path := filepath.Join(ManifestsDir, entry.Name())
		if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue // the kubelet skips it, too: a dangling symlink, or one to a directory
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if m, err := kubeadm.Parse(text); err == nil { // preflight reports a file that is no pod
			of, err := h.readersOf(m.Pod)
			if err != nil {
				return nil, err
			}
			found = append(found, of...)
		}
	}
	return found, nil
}

// readersOf returns the containers of a pod that mount a kubeconfig.
func (h *Host) readersOf(pod *corev1.Pod) ([]reader, error) {
	var found []reader
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		file, renewed, err := newestKubeconfig(pod, c)
		if err != nil {
			return nil, err
		}
		if file == "" {
			continue
		}
		r := reader{
			namespace: pod.Namespace, pod: fmt.Sprintf("%s-%s", pod.Name, h.Upgrade.NodeName), container: c.Name, kubeconfig: file, renewed: renewed,
		}
		if r.namespace == "" {
			r.namespace = corev1.NamespaceDefault
		}
		switch {
		case pod.Spec.RestartPolicy != "" && pod.Spec.RestartPolicy != corev1.RestartPolicyAlways:
			r.stays = "its restartPolicy is " + string(pod.Spec.RestartPolicy)
		case pullsAlways(c):
			r.stays = "the kubelet would pull its image, which may fail"
		}
		found = append(found, r)
	}
	return found, nil
}

// newestKubeconfig returns the kubeconfig among the mounts of a container that was written last. A
// mount may be a directory above it.
func newestKubeconfig(pod *corev1.Pod, c *corev1.Container) (file string, renewed time.Time, err error) {
	for _, path := range kubeadm.Kubeconfigs(kubeconfigsDir) {
		if !mountsPath(pod, c, path) {
			continue
		}
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", time.Time{}, err
		}
		if info.ModTime().After(renewed) {
			file, renewed = path, info.ModTime()
		}
	}
	return file, renewed, nil
}

func mountsPath(pod *corev1.Pod, c *corev1.Container, path string) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		mounted := slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == v.Name })
		if !mounted || v.HostPath == nil {
			return false
		}
		of := filepath.Clean(v.HostPath.Path)
		return of == path || strings.HasPrefix(path, strings.TrimSuffix(of, "/")+"/")
	})
}

// pullsAlways reports whether the kubelet pulls the image of a container at each start. Without a
// policy, that depends on the tag.
func pullsAlways(c *corev1.Container) bool {
	if c.ImagePullPolicy != "" {
		return c.ImagePullPolicy == corev1.PullAlways
	}
	name := c.Image[strings.LastIndex(c.Image, "/")+1:]
	_, tag, tagged := strings.Cut(name, ":")
	return !strings.Contains(name, "@") && (!tagged || tag == "latest")
}
