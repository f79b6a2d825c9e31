package steps

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

func swapAPIServer(ctx context.Context, h *Host) error {
	if err := h.swapPods(ctx, kubeadm.APIServer); err != nil {
		return err
	}
	return h.proveAPIServer(ctx, h.Upgrade.To)
}

func undoAPIServer(_ context.Context, h *Host) error { return h.undoManifest(kubeadm.APIServer) }

// proveAPIServer probes this host's API server and not the cluster's endpoint, behind which another
// API server might answer.
func (h *Host) proveAPIServer(ctx context.Context, want string) error {
	h.awaitKubelet(ctx)
	ctx, cancel := context.WithTimeout(ctx, h.Settings.Timeouts.APIServer.Duration())
	defer cancel()
	stop := h.watchCrashes(ctx, kubeadm.APIServer, cancel)
	problem, err := poll(ctx, 500*time.Millisecond, func(ctx context.Context) (string, error) {
		got, err := ProbeAPIServer(ctx)
		switch {
		case errorText(err) != "":
			return errorText(err), nil
		case got.Version != want:
			return "its version is " + got.Version, nil
		case !got.Ready:
			return "it is not ready", nil
		}
		return "", nil
	})
	crash := stop()
	switch {
	case err == nil:
		return nil
	case crash != nil:
		return crash
	}
	failure := node.ManualIntervention("APIServerUnhealthy", err, "Check its log, fix the cause, then run `refit retry`",
		"kube-apiserver is not ready at %s on its own port: %s", want, problem)
	failure.LogTail = h.logOf(kubeadm.APIServer)
	return failure
}

// APIServer is the observed state of an API server.
type APIServer struct {
	Version string
	Ready   bool
}

// ProbeAPIServer queries this host's API server on its own address.
func ProbeAPIServer(ctx context.Context) (APIServer, error) {
	text, err := os.ReadFile(manifest(kubeadm.APIServer))
	if err != nil {
		return APIServer{}, err
	}
	return probeAPIServer(ctx, text)
}

// probeAPIServer queries the API server that a manifest describes.
func probeAPIServer(ctx context.Context, manifest []byte) (APIServer, error) {
	address, port, err := kubeadm.LocalEndpoint(manifest)
	if err != nil {
		return APIServer{}, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", adminConf)
	if err != nil {
		return APIServer{}, err
	}
	config.Host = "https://" + net.JoinHostPort(address, strconv.Itoa(port))
	config.Timeout = 5 * time.Second
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return APIServer{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, config.Timeout)
	defer cancel()
	var v version.Info
	if err := getJSON(ctx, client, "/version", &v); err != nil {
		return APIServer{}, unanswered(err)
	}
	out := APIServer{Version: v.GitVersion}
	ready, err := client.RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
	out.Ready = err == nil && string(ready) == "ok"
	return out, nil
}

// unanswered explains why an API server did not return its version. The error of a response with
// another status has no text.
func unanswered(err error) error {
	status, responded := errors.AsType[*apierrors.StatusError](err)
	switch {
	case !responded:
		return fmt.Errorf("it is unreachable: %w", err)
	case status.Status().Code == http.StatusForbidden:
		return fmt.Errorf("its version cannot be read: it responds to GET /version with %s for the user in %s, as it does until it has read the RBAC objects",
			statusLine(status), adminConf)
	}
	return fmt.Errorf("its version cannot be read: it responds to GET /version with %s", statusLine(status))
}

// statusLine is the code and the meaning of a response: 403 Forbidden.
func statusLine(status *apierrors.StatusError) string {
	code := int(status.Status().Code)
	return strings.TrimSpace(strconv.Itoa(code) + " " + http.StatusText(code))
}
