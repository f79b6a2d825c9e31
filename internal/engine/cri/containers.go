package cri

import (
	"context"
	"maps"
	"sort"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// The labels that the kubelet sets.
const (
	labelContainer = "io.kubernetes.container.name"
	labelPodName   = "io.kubernetes.pod.name"
	labelPodUID    = "io.kubernetes.pod.uid"
	labelNamespace = "io.kubernetes.pod.namespace"
)

// The states of a container.
const (
	StateCreated = "Created"
	StateRunning = "Running"
	StateExited  = "Exited"
	StateUnknown = "Unknown"
)

// Container is one container of a pod.
type Container struct {
	ID string
	// Image is the ID of its image if the runtime reports it, else the name.
	Image string
	State string

	Created, Started, Finished time.Time

	ExitCode int32
	// Reason is how it ended: Completed, Error, OOMKilled.
	Reason  string
	LogPath string
	// Attempt counts how often the kubelet recreated this container of this pod.
	Attempt uint32

	SandboxID       string
	Namespace, Name string // of the pod, and of the container
	PodUID, PodName string

	// Annotations has the annotations of the pod, overlaid with those of the container.
	Annotations map[string]string
}

// ContainersOfPod returns the containers with this name in one pod, in any state, newest first.
func (c *Client) ContainersOfPod(ctx context.Context, namespace, pod, container string) ([]Container, error) {
	return c.list(ctx, &runtimeapi.ContainerFilter{
		LabelSelector: map[string]string{labelNamespace: namespace, labelPodName: pod, labelContainer: container},
	})
}

// Running returns all running containers, newest first.
func (c *Client) Running(ctx context.Context) ([]Container, error) {
	return c.list(ctx, &runtimeapi.ContainerFilter{State: &runtimeapi.ContainerStateValue{State: runtimeapi.ContainerState_CONTAINER_RUNNING}})
}

func (c *Client) list(ctx context.Context, filter *runtimeapi.ContainerFilter) ([]Container, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	l, err := c.runtime.ListContainers(ctx, &runtimeapi.ListContainersRequest{Filter: filter})
	if err != nil {
		return nil, explain(err, "cannot list containers")
	}
	sandboxes, err := c.sandboxes(ctx)
	if err != nil {
		return nil, err
	}
	found := make([]Container, 0, len(l.GetContainers()))
	for _, listed := range l.GetContainers() {
		one, err := c.inspect(ctx, listed, sandboxes[listed.GetPodSandboxId()])
		if err != nil {
			return nil, err
		}
		if one != nil {
			found = append(found, *one)
		}
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].Created.After(found[j].Created) })
	return found, nil
}

func (c *Client) sandboxes(ctx context.Context) (map[string]*runtimeapi.PodSandbox, error) {
	l, err := c.runtime.ListPodSandbox(ctx, &runtimeapi.ListPodSandboxRequest{})
	if err != nil {
		return nil, explain(err, "cannot list pods")
	}
	byID := map[string]*runtimeapi.PodSandbox{}
	for _, s := range l.GetItems() {
		byID[s.GetId()] = s
	}
	return byID, nil
}

// inspect adds what a list does not have. It returns nil for a container that was removed in
// between.
func (c *Client) inspect(ctx context.Context, listed *runtimeapi.Container, sandbox *runtimeapi.PodSandbox) (*Container, error) {
	response, err := c.runtime.ContainerStatus(ctx, &runtimeapi.ContainerStatusRequest{ContainerId: listed.GetId()})
	if gone(err) {
		return nil, nil //nolint:nilnil // it was removed
	}
	if err != nil {
		return nil, explain(err, "cannot get container %.13s", listed.GetId())
	}
	s := response.GetStatus()
	annotations := map[string]string{}
	for _, from := range []map[string]string{sandbox.GetAnnotations(), listed.GetAnnotations(), s.GetAnnotations()} {
		maps.Copy(annotations, from)
	}
	labels := listed.GetLabels()
	return &Container{
		ID: listed.GetId(), Image: imageOf(listed, s), State: stateOf(s.GetState()),
		Created: at(s.GetCreatedAt()), Started: at(s.GetStartedAt()), Finished: at(s.GetFinishedAt()),
		ExitCode: s.GetExitCode(), Reason: s.GetReason(), LogPath: s.GetLogPath(), Attempt: listed.GetMetadata().GetAttempt(),
		SandboxID: listed.GetPodSandboxId(), Namespace: labels[labelNamespace], Name: labels[labelContainer],
		PodUID: labels[labelPodUID], PodName: labels[labelPodName], Annotations: annotations,
	}, nil
}

func imageOf(listed *runtimeapi.Container, s *runtimeapi.ContainerStatus) string {
	for _, id := range []string{s.GetImageId(), listed.GetImageId(), listed.GetImageRef(), s.GetImage().GetImage()} {
		if id != "" {
			return id
		}
	}
	return ""
}

func stateOf(s runtimeapi.ContainerState) string {
	switch s {
	case runtimeapi.ContainerState_CONTAINER_CREATED:
		return StateCreated
	case runtimeapi.ContainerState_CONTAINER_RUNNING:
		return StateRunning
	case runtimeapi.ContainerState_CONTAINER_EXITED:
		return StateExited
	case runtimeapi.ContainerState_CONTAINER_UNKNOWN:
	}
	return StateUnknown
}

// at converts a time of the CRI. 0 is no time, not 1970.
func at(nanoseconds int64) time.Time {
	if nanoseconds == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanoseconds).UTC()
}

// StopContainer stops a container, and kills it after the timeout. A missing container counts as
// stopped.
func (c *Client) StopContainer(ctx context.Context, id string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout+requestTimeout)
	defer cancel()
	_, err := c.runtime.StopContainer(ctx, &runtimeapi.StopContainerRequest{ContainerId: id, Timeout: int64(timeout / time.Second)})
	if err != nil && !gone(err) {
		return explain(err, "cannot stop container %.13s", id)
	}
	return nil
}
