//go:build apiserver

package controller

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/refit-dev/refit/internal/controller"
)

// asController is the variable that makes this binary run as a controller. Its value is the path of
// the kubeconfig.
const asController = "REFIT_TEST_AS_CONTROLLER"

// beController runs only the controllers in this process.
func beController(kubeconfig string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err == nil {
		err = controller.Run(ctx, controller.Options{Config: config, Log: slog.New(slog.NewTextHandler(os.Stderr, nil)), Controllers: controllers})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// process is a controller that can be frozen and killed.
type process struct {
	b   *bed
	cmd *exec.Cmd
	end sync.Once
}

// process starts the controllers in a separate process.
func (b *bed) process(kubeconfig string) *process {
	b.t.Helper()
	self, err := os.Executable()
	must(b.t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), asController+"="+kubeconfig)
	cmd.Stderr = b.saying()
	must(b.t, cmd.Start())
	p := &process{b: b, cmd: cmd}
	b.t.Cleanup(p.kill)
	return p
}

func (p *process) signal(s os.Signal) {
	p.b.t.Helper()
	must(p.b.t, p.cmd.Process.Signal(s))
}

// kill ends the process immediately, as the OOM killer does.
func (p *process) kill() {
	p.end.Do(func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	})
}

// freeLease releases the Lease, which takes 15 s to expire otherwise.
func (b *bed) freeLease() {
	b.t.Helper()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: controller.Namespace, Name: "refit-controller"}}
	must(b.t, client.IgnoreNotFound(b.client.Delete(b.t.Context(), lease)))
}
