// Command refit-controller runs Refit's controllers in the cluster that they upgrade.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/refit-dev/refit/internal/controller"
	"github.com/refit-dev/refit/internal/controller/clusterrelease"
	"github.com/refit-dev/refit/internal/controller/clusterupgrade"
	"github.com/refit-dev/refit/internal/controller/component"
	"github.com/refit-dev/refit/internal/controller/etcdbackup"
	"github.com/refit-dev/refit/internal/controller/metrics"
	"github.com/refit-dev/refit/internal/controller/nodeupgrade"
	"github.com/refit-dev/refit/internal/controller/orphan"
	"github.com/refit-dev/refit/internal/controller/traces"
	"github.com/refit-dev/refit/internal/controller/upgradeschedule"
)

// version is set at link time.
var version = "dev"

// controllers is the list of everything that runs.
var controllers = []controller.Setup{
	clusterupgrade.Setup, nodeupgrade.Setup, orphan.Setup, clusterrelease.Setup, component.Setup, etcdbackup.Setup, metrics.Setup, traces.Setup,
	upgradeschedule.Setup,
}

// checkTimeout is less than the 5 minutes that helm test waits by default.
const checkTimeout = 2 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "refit-controller: "+err.Error())
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("refit-controller", flag.ContinueOnError)
	metricsAddress := flags.String("metrics-address", ":8080", "address of /metrics; 0 disables it")
	healthAddress := flags.String("health-address", ":8081", "address of /healthz and /readyz; 0 disables them")
	check := flags.Bool("check", false, "check that the API server serves each kind and that controllers lead, then exit: for helm test")
	if err := flags.Parse(args); err != nil {
		return err
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("cannot load the Kubernetes client configuration: %w", err)
	}
	config.DisableCompression = true // the network is near; the CPU of the API servers is scarce
	config.UserAgent = "refit-controller/" + version
	if *check {
		ctx, cancel := context.WithTimeout(ctx, checkTimeout)
		defer cancel()
		return controller.Check(ctx, config, os.Stdout)
	}
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	return controller.Run(ctx, controller.Options{
		Config: config, Log: log, Controllers: controllers, Metrics: *metricsAddress, Health: *healthAddress,
	})
}
