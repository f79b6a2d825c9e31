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

// DefaultSocket is the socket of containerd.
const DefaultSocket = "/run/containerd/containerd.sock"

// maxMessage bounds a response, as in the kubelet.
const maxMessage = 16 << 20

// requestTimeout bounds every request without a deadline of its own: a runtime that hangs must not
// hang the agent.
const requestTimeout = 30 * time.Second

// logRemedy is the remedy for a runtime that does not work.
const logRemedy = "Read the log of containerd on the host: `journalctl -u containerd`"

// Client is a client of the CRI.
type Client struct {
	conn    *grpc.ClientConn
	runtime runtimeapi.RuntimeServiceClient
	images  runtimeapi.ImageServiceClient
}

// Version is the name and version of a runtime.
type Version struct{ Runtime, Version string }

// Dial returns a client. It connects with the first request, and again after the runtime has
// restarted.
func Dial(socket string) (*Client, error) {
	socket = strings.TrimPrefix(socket, "unix://")
	conn, err := grpc.NewClient("unix://"+socket,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)),
		grpc.WithConnectParams(reconnect),
		grpc.WithNoProxy(),
	)
	if err != nil {
		return nil, fmt.Errorf("cannot connect to the container runtime at %s: %w", socket, err)
	}
	return &Client{conn: conn, runtime: runtimeapi.NewRuntimeServiceClient(conn), images: runtimeapi.NewImageServiceClient(conn)}, nil
}

// Close closes the connection.
func (c *Client) Close() { _ = c.conn.Close() }

// Version returns the runtime's name and version.
func (c *Client) Version(ctx context.Context) (Version, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	v, err := c.runtime.Version(ctx, &runtimeapi.VersionRequest{})
	if err != nil {
		return Version{}, explain(err, "cannot get the version of the container runtime")
	}
	return Version{Runtime: v.GetRuntimeName(), Version: v.GetRuntimeVersion()}, nil
}

// Ready returns nil if the runtime and the pod network are ready, and a reason of its own for each:
// the network can depend on a pod that the runtime has yet to start.
func (c *Client) Ready(ctx context.Context) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	s, err := c.runtime.Status(ctx, &runtimeapi.StatusRequest{})
	if err != nil {
		return explain(err, "cannot get the status of the container runtime")
	}
	conditions := map[string]*runtimeapi.RuntimeCondition{}
	for _, c := range s.GetStatus().GetConditions() {
		conditions[c.GetType()] = c
	}
	if c := conditions[runtimeapi.RuntimeReady]; !c.GetStatus() {
		return node.Transient("RuntimeNotReady", nil, logRemedy, "the container runtime is not ready: %s", why(c))
	}
	if c := conditions[runtimeapi.NetworkReady]; !c.GetStatus() {
		return node.Transient("NetworkNotReady", nil,
			"Check that the pods of the network plugin run (`kubectl get pods -A -o wide`) and that /etc/cni/net.d has a configuration",
			"the pod network is not ready: %s", why(c))
	}
	return nil
}

func why(c *runtimeapi.RuntimeCondition) string {
	if c == nil {
		return "no such condition"
	}
	return strings.TrimSpace(c.GetReason() + " " + c.GetMessage())
}

// RuntimeConfig reports whether the runtime has the RuntimeConfig method, from which newer kubelets
// read the cgroup driver.
func (c *Client) RuntimeConfig(ctx context.Context) (bool, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	_, err := c.runtime.RuntimeConfig(ctx, &runtimeapi.RuntimeConfigRequest{})
	if status.Code(err) == codes.Unimplemented {
		return false, nil
	}
	if err != nil {
		return false, explain(err, "cannot get the configuration of the container runtime")
	}
	return true, nil
}

func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, has := ctx.Deadline(); has {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, requestTimeout)
}

// explain returns the failure for an error of the runtime. A runtime that is unreachable or slow
// counts as transient.
func explain(err error, format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	switch status.Code(err) { //nolint:exhaustive // other codes are errors of the runtime itself
	case codes.Unavailable, codes.DeadlineExceeded:
		return node.Transient("RuntimeUnreachable", err, logRemedy, "%s: it is unreachable", message)
	case codes.Unimplemented:
		return node.ManualIntervention("RuntimeTooOld", err, "Upgrade the container runtime to one with version 1 of the CRI, such as containerd 1.6 or later",
			"%s: it does not support this request", message)
	}
	return fmt.Errorf("%s: %w", message, err)
}
