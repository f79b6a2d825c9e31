//go:build apiserver

package thousands

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"
)

// process is the controller as it runs in a cluster.
type process struct {
	t       *testing.T
	command *exec.Cmd
	metrics string // the address of its metrics
}

// runController builds the controller and runs it until the test ends.
func (b *bed) runController() *process {
	b.t.Helper()
	program := filepath.Join(b.t.TempDir(), "refit-controller")
	out, err := exec.CommandContext(b.t.Context(), "go", "build", "-o", program, "github.com/refit-dev/refit/cmd/refit-controller").CombinedOutput()
	if err != nil {
		b.t.Fatalf("building the controller: %v\n%s", err, out)
	}
	p := &process{t: b.t, metrics: freeAddress(b.t)}
	log, err := os.Create(filepath.Join(b.t.TempDir(), "controller.log"))
	must(b.t, err)
	p.command = exec.CommandContext(context.WithoutCancel(b.t.Context()), program, "--metrics-address="+p.metrics, "--health-address=0")
	p.command.Env = append(append(os.Environ(), installedEnvironment(b.t)...), "KUBECONFIG="+b.Kubeconfig(b.t, b.asController()))
	p.command.Stderr = log
	must(b.t, p.command.Start())
	b.t.Cleanup(func() {
		_ = p.command.Process.Signal(syscall.SIGTERM) // it may have exited
		_ = p.command.Wait()
		if b.t.Failed() {
			b.t.Logf("the controller said last:\n%s", lastLines(log.Name(), 20))
		}
		_ = log.Close()
	})
	return p
}

// installedEnvironment returns the environment of the controller in a cluster.
func installedEnvironment(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../../config/controller/deployment.yaml")
	must(t, err)
	var deployment appsv1.Deployment
	must(t, yaml.Unmarshal(text, &deployment))
	var out []string
	for _, variable := range deployment.Spec.Template.Spec.Containers[0].Env {
		out = append(out, variable.Name+"="+variable.Value)
	}
	return out
}

// freeAddress returns an unused address.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { must(t, listener.Close()) }()
	return listener.Addr().String()
}

func lastLines(file string, n int) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// memory returns the peak memory of the process, in MiB.
func (p *process) memory() float64 {
	p.t.Helper()
	file, err := os.Open(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	must(p.t, err)
	defer func() { must(p.t, file.Close()) }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if text, is := strings.CutPrefix(lines.Text(), "VmHWM:"); is {
			kib, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(text, "kB")), 64)
			must(p.t, err)
			return kib / 1024
		}
	}
	p.t.Fatal("the system does not tell what memory a process used")
	return 0
}

// processor returns the CPU time of the process.
func (p *process) processor() time.Duration {
	p.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.command.Process.Pid))
	must(p.t, err)
	_, rest, _ := strings.Cut(string(text), ") ") // the name may contain spaces
	fields := strings.Fields(rest)
	const user, system, ticksPerSecond = 11, 12, 100
	ticks := 0
	for _, at := range []int{user, system} {
		n, err := strconv.Atoi(fields[at])
		must(p.t, err)
		ticks += n
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond
}

// requests returns how many requests the process has made.
func (p *process) requests() float64 {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, "http://"+p.metrics+"/metrics", http.NoBody)
	must(p.t, err)
	response, err := http.DefaultClient.Do(request)
	must(p.t, err)
	defer func() { must(p.t, response.Body.Close()) }()
	sum := 0.0
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if !strings.HasPrefix(lines.Text(), "rest_client_requests_total{") {
			continue
		}
		at := strings.LastIndex(lines.Text(), " ")
		n, err := strconv.ParseFloat(lines.Text()[at+1:], 64)
		must(p.t, err)
		sum += n
	}
	return sum
}
