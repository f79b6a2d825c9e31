package steps

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

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
	return h.proveAPIServer(ctx, h.Work.To)
}

func unswapAPIServer(_ context.Context, h *Host) error { return h.unswapManifest(kubeadm.APIServer) }

// proveAPIServer asks this host's own API server, not the cluster's endpoint: another one would answer there.
func (h *Host) proveAPIServer(ctx context.Context, want string) error {
	h.awaitKubelet(ctx)
	ctx, cancel := context.WithTimeout(ctx, h.Settings.Timeouts.APIServer.Duration())
	defer cancel()
	stop := h.watchCrashes(ctx, kubeadm.APIServer, cancel)
	lacking, err := until(ctx, 500*time.Millisecond, func(ctx context.Context) (string, error) {
		got, err := AskAPIServer(ctx)
		switch {
		case says(err) != "":
			return says(err), nil
		case got.Version != want:
			return "it is at " + got.Version, nil
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
	failure := node.ManualIntervention("APIServerUnwell", err, "read its log, mend the cause, then refit retry",
		"kube-apiserver is not ready at %s on its own port: %s", want, lacking)
	failure.LogTail = h.logOf(kubeadm.APIServer)
	return failure
}

// APIServer is what an API server says of itself.
type APIServer struct {
	Version string
	Ready   bool
}

// AskAPIServer asks this host's API server on its own address.
func AskAPIServer(ctx context.Context) (APIServer, error) {
	text, err := os.ReadFile(manifest(kubeadm.APIServer))
	if err != nil {
		return APIServer{}, err
	}
	return askAPIServer(ctx, text)
}

// askAPIServer asks the one that a manifest started.
func askAPIServer(ctx context.Context, manifest []byte) (APIServer, error) {
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
		return APIServer{}, fmt.Errorf("it does not answer: %w", err)
	}
	out := APIServer{Version: v.GitVersion}
	ready, err := client.RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
	out.Ready = err == nil && string(ready) == "ok"
	return out, nil
}
