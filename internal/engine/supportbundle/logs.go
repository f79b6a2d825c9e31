package supportbundle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/supportbundle/archive"
	"github.com/refit-dev/refit/internal/upgrade/supportbundle"
)

// logTimeout bounds the log of one container: its kubelet may be down.
const logTimeout = 30 * time.Second

// logs adds the logs of the controllers, of the current and the previous containers.
func (r *run) logs(ctx context.Context) error {
	for _, namespace := range []string{namespaceSystem, namespaceComponents} {
		source := "logs of " + namespace
		r.report(Progress{Activity: "reads the Pods of " + namespace})
		limited, cancel := context.WithTimeout(ctx, listTimeout)
		pods, err := r.Typed.CoreV1().Pods(namespace).List(limited, metav1.ListOptions{})
		cancel()
		if err != nil {
			if err := r.fail(source, "", fmt.Errorf("cannot list the Pods of %s: %w", namespace, err)); err != nil {
				return err
			}
			continue
		}
		for i := range pods.Items {
			if err := r.podLogs(ctx, &pods.Items[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *run) podLogs(ctx context.Context, pod *corev1.Pod) error {
	for _, status := range append(append([]corev1.ContainerStatus{}, pod.Status.InitContainerStatuses...), pod.Status.ContainerStatuses...) {
		for _, previous := range []bool{false, true} {
			if previous && status.RestartCount == 0 {
				continue
			}
			if err := r.add(r.log(ctx, pod, status.Name, previous)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *run) log(ctx context.Context, pod *corev1.Pod, container string, previous bool) archive.Part {
	source := fmt.Sprintf("log of %s/%s, container %s", pod.Namespace, pod.Name, container)
	if previous {
		source += ", before its restart"
	}
	r.report(Progress{Activity: "reads the " + source})
	ctx, cancel := context.WithTimeout(ctx, logTimeout)
	defer cancel()
	text := archive.NewText(r.redact, r.Limits.Log)
	err := r.copyLog(ctx, text, pod, &corev1.PodLogOptions{
		Container: container, Previous: previous, Timestamps: true, SinceTime: &metav1.Time{Time: r.window.Since},
	})
	p := text.Part(cliv1alpha1.BundlePart{
		Path: supportbundle.LogPath(pod.Namespace, pod.Name, container, previous), Source: source, Node: pod.Spec.NodeName,
	})
	if err != nil {
		p.Error = r.classify(fmt.Errorf("cannot read the log: %w", err))
		p.Truncated = len(p.Content) > 0
	}
	return p
}

// maxRead is how much of a log is read for its end, in limits.
const maxRead = 20

// errTooLong is the error of a log of which too much would have to be read.
var errTooLong = errors.New("the log is too long to reach its end")

func (r *run) copyLog(ctx context.Context, to io.Writer, pod *corev1.Pod, options *corev1.PodLogOptions) error {
	stream, err := r.Typed.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, options).Stream(ctx)
	if err != nil {
		return err
	}
	defer stream.Close()
	most := maxRead * r.Limits.Log
	if n, err := io.Copy(to, io.LimitReader(stream, most)); err != nil || n < most {
		return err
	}
	return errTooLong
}
