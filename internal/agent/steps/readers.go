package steps

import (
	"cmp"
	"context"
	"crypto/sha256"
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
	"github.com/refit-dev/refit/internal/engine/durable"
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
// The kubelet starts a container again that has exited. All are stopped before the first is waited
// for.
//
// This is done before the API server of the host stops. kube-vip gives up its Lease when it is
// stopped, so the address moves at once, and not only when the Lease has expired.
func restartReaders(ctx context.Context, h *Host) error {
	readers, err := h.readers()
	if err != nil {
		return err
	}
	var stopped []reader
	for _, r := range readers {
		at, err := h.readerState(ctx, r)
		switch {
		case err != nil:
			return err
		case !at.owed():
			continue
		case r.stays != "":
			h.Log.Warn("a static pod uses a kubeconfig from before its renewal: restart it before the previous certificate expires",
				"pod", r.namespace+"/"+r.pod, "kubeconfig", r.kubeconfig, "reason", r.stays)
			continue
		}
		for _, id := range at.stale {
			if err := h.stopReader(ctx, r, id); err != nil {
				return err
			}
		}
		stopped = append(stopped, r)
	}
	return h.awaitReaders(ctx, stopped)
}

// finishReaders starts again what an interrupted restart has stopped. The renewed kubeconfigs stay,
// so the pods stay restarted.
func finishReaders(ctx context.Context, h *Host) error {
	if err := restartReaders(ctx, h); err != nil {
		return err
	}
	return node.ErrKept
}

// stopReader records first which container it stops: the kubelet removes it from its list when its
// successor has ended, too.
func (h *Host) stopReader(ctx context.Context, r reader, id string) error {
	h.Log.Info("restarting a static pod, because its kubeconfig was renewed", "pod", r.namespace+"/"+r.pod, "kubeconfig", r.kubeconfig)
	return h.Effect("restart-pod", func() error {
		if err := durable.WriteFile(h.stoppedFile(r), nil, 0o600); err != nil {
			return err
		}
		return h.withCRI(func(client *cri.Client) error { return client.StopContainer(ctx, id, readerStopTimeout) })
	})
}

// stoppedFile exists if a container was stopped here. The names may be longer than that of a file.
func (h *Host) stoppedFile(r reader) string {
	sum := sha256.Sum256([]byte(r.namespace + "/" + r.pod + "/" + r.container))
	return h.path(fmt.Sprintf("stopped-%x", sum[:8]))
}

// awaitReaders waits until the kubelet has started a successor of each stopped container.
func (h *Host) awaitReaders(ctx context.Context, stopped []reader) error {
	waiting, cancel := context.WithTimeout(ctx, restartTimeout)
	defer cancel()
	for _, r := range stopped {
		problem, err := poll(waiting, 200*time.Millisecond, func(ctx context.Context) (string, error) {
			at, err := h.readerState(ctx, r)
			if err == nil && !at.owed() {
				return "", nil
			}
			return cmp.Or(errorText(err), "it has no running container"), nil
		})
		if err != nil {
			return node.ManualIntervention("PodNotRestarted", err,
				"Check why the kubelet does not start it (`journalctl -u kubelet -u containerd`), then run `refit retry`",
				"the static pod %s/%s was stopped, so that it reads the renewed %s, and does not run again: %s", r.namespace, r.pod, r.kubeconfig, problem)
		}
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
		if at, err := h.readerState(ctx, r); err != nil || at.owed() && r.stays == "" {
			return false, err
		}
	}
	return true, nil
}

// readerState is what is known about the containers of a reader.
type readerState struct {
	stale     []string // run, and have read the former kubeconfig
	stopped   bool     // by this attempt or one before
	successor bool     // runs, and has read the renewed kubeconfig
}

// owed reports whether a container has to be stopped, or its successor does not run. A pod that was
// down before the renewal is not waited for.
func (s readerState) owed() bool { return len(s.stale) > 0 || s.stopped && !s.successor }

func (h *Host) readerState(ctx context.Context, r reader) (readerState, error) {
	var containers []cri.Container
	err := h.withCRI(func(client *cri.Client) (err error) {
		containers, err = client.ContainersOfPod(ctx, r.namespace, r.pod, r.container)
		return err
	})
	if err != nil {
		return readerState{}, err
	}
	out := readerState{}
	if _, err := os.Stat(h.stoppedFile(r)); err == nil {
		out.stopped = true
	}
	for _, c := range containers {
		switch {
		case c.State != cri.StateRunning:
		case c.Started.Before(r.renewed):
			out.stale = append(out.stale, c.ID)
		default:
			out.successor = true
		}
	}
	return out, nil
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
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue // the kubelet skips it, too: a dangling symlink, a loop, or one to a directory
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if m, err := kubeadm.Parse(text); err == nil && !slices.Contains(kubeadm.Components(), m.Pod.Name) { // preflight reports a file that is no pod
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
// mount of a directory above it does not count: the pod may be another etcd or a KMS plugin.
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
		return filepath.Clean(v.HostPath.Path) == path
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
