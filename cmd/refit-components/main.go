// Command refit-components installs and upgrades the components of a cluster: Helm charts that are
// signed with a ClusterRelease.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/refit-dev/refit/internal/components"
	"github.com/refit-dev/refit/internal/controller"
)

// version is set at link time.
var version = "dev"

// memoryLimit is the soft limit of the heap unless GOMEMLIMIT sets another one: Helm decodes whole
// charts and records, and its garbage would otherwise exceed the limit of the container.
const memoryLimit = 200 << 20

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "refit-components: "+err.Error())
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("refit-components", flag.ContinueOnError)
	keys := flags.String("keys", "/etc/refit/keys", "directory of the public keys (*.pem) that sign ClusterReleases")
	metricsAddress := flags.String("metrics-address", ":8080", "address of /metrics; 0 disables it")
	healthAddress := flags.String("health-address", ":8081", "address of /healthz and /readyz; 0 disables them")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("cannot load the Kubernetes client configuration: %w", err)
	}
	config.DisableCompression = true // the network is near; the CPU of the API servers is scarce
	config.UserAgent = "refit-components/" + version
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	slog.SetDefault(log) // Helm logs there what contains no values, such as that a Job failed
	followed, err := labels.Parse(components.Followed)
	if err != nil {
		return err
	}
	lease := &controller.Lease{}
	return controller.Run(ctx, controller.Options{
		Config: config, Log: log, Metrics: *metricsAddress, Health: *healthAddress,
		LeaseNamespace: components.Namespace, LeaseName: components.Name, Lease: lease,
		Cached:      map[client.Object]cache.ByObject{&corev1.Secret{}: {Label: followed}},
		Controllers: []controller.Setup{components.Setup(components.Options{Keys: *keys, Lease: lease.Context, Log: log})},
	})
}
