package supportbundle

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/supportbundle/archive"
	"github.com/refit-dev/refit/internal/upgrade/supportbundle"
)

const (
	// createTimeout and deleteTimeout bound the requests for a Pod. They are not canceled with the
	// command: a Pod whose creation was not observed would not be deleted.
	createTimeout = 15 * time.Second
	deleteTimeout = 15 * time.Second
	pollInterval  = 500 * time.Millisecond
	// leftoverAge is added to the deadline of a Pod. An older one belongs to a run that was killed.
	leftoverAge = time.Minute
	// maxParts bounds what the index of a host lists.
	maxParts = 128
)

// collectHost runs a Pod on a node and reads what it prints.
func (r *run) collectHost(ctx context.Context, node string, from source) ([]archive.Part, error) {
	ctx, cancel := context.WithTimeout(ctx, r.Limits.HostTimeout)
	defer cancel()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.report(Progress{Node: node, Activity: "creates the collector Pod"})
	pod, err := r.create(ctx, podOf(node, from, r.podArguments(), r.Limits.HostTimeout))
	if err != nil {
		return nil, err
	}
	defer r.remove(ctx, pod)
	r.clock.note(pod.CreationTimestamp.Time)
	if err := r.started(ctx, pod); err != nil {
		return nil, err
	}
	r.report(Progress{Node: node, Activity: "reads the journals"})
	stream, err := r.Typed.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{Follow: true}).Stream(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot read the output of the collector Pod: %w", err)
	}
	raw, streamErr := archive.ReadStream(stream, 2*r.Limits.Host)
	_ = stream.Close()
	if errors.Is(streamErr, archive.ErrNoStream) {
		return nil, r.ended(ctx, pod, streamErr)
	}
	parts, err := r.hostParts(node, raw)
	r.report(Progress{Node: node, Activity: "is read: " + size(len(raw)) + " compressed"})
	if err := errors.Join(streamErr, err); err != nil {
		return parts, supportbundle.Fail(supportbundle.ReasonTransferIncomplete, "the output of the collector Pod is not complete: %v", cmp.Or(ctx.Err(), err))
	}
	return parts, nil
}

func (r *run) create(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), createTimeout)
	defer cancel()
	created, err := r.Typed.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
	if err == nil {
		return created, nil
	}
	message := err.Error()
	refused := apierrors.IsInvalid(err) || strings.Contains(message, "ValidatingAdmissionPolicy") ||
		strings.Contains(message, "PodSecurity") || strings.Contains(message, "admission webhook")
	if refused {
		return nil, supportbundle.Fail(supportbundle.ReasonPodRefused, "the collector Pod is refused: %s", r.line(message))
	}
	return nil, fmt.Errorf("cannot create the collector Pod: %w", err)
}

// remove deletes the Pod, also after an interruption.
func (r *run) remove(ctx context.Context, pod *corev1.Pod) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteTimeout)
	defer cancel()
	err := r.Typed.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(pod.UID))})
	if err != nil && !apierrors.IsNotFound(err) {
		r.report(Progress{Node: pod.Spec.NodeName, Activity: fmt.Sprintf("the Pod %s/%s remains: the next run deletes it (%v)", pod.Namespace, pod.Name, err)})
	}
}

// started waits until the container runs or has ended. It polls, since that needs no permission to
// list or watch the Pods of the namespace.
func (r *run) started(ctx context.Context, pod *corev1.Pod) error {
	waiting := ""
	err := wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		now, err := r.Typed.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
		if err != nil {
			if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
				return false, err
			}
			return false, nil // the API server may be restarted by the operation
		}
		for i := range now.Status.ContainerStatuses {
			state := now.Status.ContainerStatuses[i].State
			if state.Running != nil || state.Terminated != nil {
				return true, nil
			}
			if reason := r.line(waitingReason(state.Waiting)); reason != waiting {
				waiting = reason
				r.report(Progress{Node: pod.Spec.NodeName, Activity: "waits for the collector Pod to start: " + reason})
			}
		}
		if hopeless(waiting) || now.Status.Phase == corev1.PodFailed {
			return false, supportbundle.Fail(supportbundle.ReasonPodNotStarted, "the collector Pod does not start: %s",
				cmp.Or(waiting, r.line(now.Status.Reason+" "+now.Status.Message)))
		}
		return false, nil
	})
	if err != nil && ctx.Err() != nil && !errors.Is(ctx.Err(), context.Canceled) {
		return supportbundle.Fail(supportbundle.ReasonPodNotStarted, "the collector Pod did not start within %s: %s", r.Limits.HostTimeout,
			cmp.Or(waiting, "the kubelet has not reported its status"))
	}
	return err
}

func waitingReason(w *corev1.ContainerStateWaiting) string {
	if w == nil {
		return ""
	}
	return strings.TrimSuffix(w.Reason+": "+w.Message, ": ")
}

// hopeless is true for a reason that no wait resolves.
func hopeless(waiting string) bool {
	return slices.ContainsFunc([]string{"ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName", "CreateContainerConfigError"}, func(reason string) bool {
		return strings.HasPrefix(waiting, reason)
	})
}

// ended returns why a Pod printed no bundle: an agent without this command, for example.
func (r *run) ended(ctx context.Context, pod *corev1.Pod, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), createTimeout)
	defer cancel()
	message := cause.Error()
	if now, err := r.Typed.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{}); err == nil {
		for i := range now.Status.ContainerStatuses {
			if ended := now.Status.ContainerStatuses[i].State.Terminated; ended != nil && ended.Message != "" {
				message = ended.Message
			}
		}
	}
	return supportbundle.Fail(supportbundle.ReasonPodFailed, "the collector Pod failed: %s", r.line(message))
}

// hostParts returns the parts of the archive of a host. They are redacted again: the agent may be
// older, and the host is not trusted.
func (r *run) hostParts(node string, raw []byte) ([]archive.Part, error) {
	read, err := archive.ReadHost(bytes.NewReader(raw), r.Limits.Host+r.Limits.Host/4)
	described := map[string]cliv1alpha1.BundlePart{}
	var out []archive.Part
	if read.Index != nil {
		for _, p := range read.Index.Parts[:min(len(read.Index.Parts), maxParts)] {
			if p.Path != "" {
				described[p.Path] = p
				continue
			}
			out = append(out, archive.Part{BundlePart: r.untrusted(node, p)})
		}
	} else if err == nil {
		err = errors.New("the archive has no index")
	}
	for _, name := range slices.Sorted(maps.Keys(read.Files)) {
		p, complete := described[name]
		p = r.untrusted(node, p)
		p.Path, p.Source = supportbundle.HostPath(node, name), cmp.Or(p.Source, name)
		p.Truncated = p.Truncated || !complete
		text := archive.NewText(r.redact, r.Limits.Host)
		_, _ = text.Write(read.Files[name])
		counted := p.Redactions
		part := text.Part(p)
		for rule, n := range counted {
			part.Redactions[rule] += n
		}
		out = append(out, part)
	}
	return out, err
}

// untrusted returns the description of a part in the index of a host, bounded and redacted.
func (r *run) untrusted(node string, p cliv1alpha1.BundlePart) cliv1alpha1.BundlePart {
	out := cliv1alpha1.BundlePart{
		Source: r.line(p.Source), Node: node, Items: max(0, p.Items), Truncated: p.Truncated, Note: r.line(p.Note), Redactions: map[string]int64{},
	}
	for rule := range r.knownRules() {
		if n := p.Redactions[rule]; n > 0 {
			out.Redactions[rule] = n
		}
	}
	if p.Error != nil {
		out.Error = &cliv1alpha1.BundleError{
			Class: r.line(p.Error.Class), Reason: r.line(p.Error.Reason), Message: r.line(p.Error.Message), Remedy: r.line(p.Error.Remedy),
		}
	}
	return out
}
