// Command refit checks, plans and executes upgrades of Kubernetes clusters.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/refit-dev/refit/internal/cli/terminal"
)

func main() {
	// The Kubernetes libraries log to stderr. Relevant errors are returned as well.
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	log.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the process at once, in case the first one hangs.
	context.AfterFunc(ctx, stop)
	code := run(ctx, newApp(os.Args[0]), terminal.ArgumentsOf(os.Args[0], os.Args[1:]))
	stop()
	os.Exit(code)
}
