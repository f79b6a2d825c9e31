package cri

import (
	"context"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// DefaultSocket is containerd's.
const DefaultSocket = "/run/containerd/containerd.sock"

// maxMessage bounds an answer; the kubelet uses the same.
const maxMessage = 16 << 20

// askTimeout bounds every question that has no deadline of its own: a runtime that hangs must not hang the agent.
const askTimeout = 30 * time.Second

// Client speaks to a container runtime by the CRI.
type Client struct {
	conn    *grpc.ClientConn
	runtime runtimeapi.RuntimeServiceClient
	images  runtimeapi.ImageServiceClient
}

// Version is what a runtime says of itself.
type Version struct{ Runtime, Version string }

// Dial makes a client. It connects when it is first asked something, and again when the runtime was restarted.
func Dial(socket string) (*Client, error) {
	socket = strings.TrimPrefix(socket, "unix://")
	conn, err := grpc.NewClient("unix://"+socket,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)),
		grpc.WithConnectParams(reconnect),
		grpc.WithNoProxy(),
	)
	if err != nil {
		return nil, fmt.Errorf("making a client for the container runtime at %s: %w", socket, err)
	}
	return &Client{conn: conn, runtime: runtimeapi.NewRuntimeServiceClient(conn), images: runtimeapi.NewImageServiceClient(conn)}, nil
}

// Close ends the connection.
func (c *Client) Close() { _ = c.conn.Close() }

// Version is the runtime's name and version.
func (c *Client) Version(ctx context.Context) (Version, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	v, err := c.runtime.Version(ctx, &runtimeapi.VersionRequest{})
	if err != nil {
		return Version{}, told(err, "asking the container runtime for its version")
	}
	return Version{Runtime: v.GetRuntimeName(), Version: v.GetRuntimeVersion()}, nil
}

// Ready is nil when the runtime and its network are. Which of them is not, is told apart: the network may come with a pod that the runtime has yet to start.
func (c *Client) Ready(ctx context.Context) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	s, err := c.runtime.Status(ctx, &runtimeapi.StatusRequest{})
	if err != nil {
		return told(err, "asking the container runtime for its status")
	}
	conditions := map[string]*runtimeapi.RuntimeCondition{}
	for _, c := range s.GetStatus().GetConditions() {
		conditions[c.GetType()] = c
	}
	if c := conditions[runtimeapi.RuntimeReady]; !c.GetStatus() {
		return node.Transient("RuntimeNotReady", nil, "see journalctl -u containerd on the host", "the container runtime is not ready: %s", why(c))
	}
	if c := conditions[runtimeapi.NetworkReady]; !c.GetStatus() {
		return node.Transient("NetworkNotReady", nil, "see whether the network plugin's pods run and /etc/cni/net.d has a configuration",
			"the container runtime has no pod network: %s", why(c))
	}
	return nil
}

func why(c *runtimeapi.RuntimeCondition) string {
	if c == nil {
		return "it does not tell"
	}
	return strings.TrimSpace(c.GetReason() + " " + c.GetMessage())
}

// RuntimeConfig says whether the runtime has the method of that name, without which newer kubelets do not learn the cgroup driver.
func (c *Client) RuntimeConfig(ctx context.Context) (bool, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	_, err := c.runtime.RuntimeConfig(ctx, &runtimeapi.RuntimeConfigRequest{})
	if status.Code(err) == codes.Unimplemented {
		return false, nil
	}
	if err != nil {
		return false, told(err, "asking the container runtime for its configuration")
	}
	return true, nil
}

func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, has := ctx.Deadline(); has {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, askTimeout)
}

// told makes a failure of what a runtime answered. A runtime that is away or slow is one that comes back, as far as can be known here.
func told(err error, format string, args ...any) error {
	doing := fmt.Sprintf(format, args...)
	switch status.Code(err) { //nolint:exhaustive // Every other code is the runtime's own word.
	case codes.Unavailable, codes.DeadlineExceeded:
		return node.Transient("RuntimeNotAnswering", err, "see journalctl -u containerd on the host", "%s: it does not answer", doing)
	case codes.Unimplemented:
		return node.ManualIntervention("RuntimeTooOld", err, "upgrade the container runtime: it must speak version 1 of the CRI, as containerd does since 1.6",
			"%s: it does not know the question", doing)
	}
	return fmt.Errorf("%s: %w", doing, err)
}
