//go:build apiserver

package serve

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/server/api"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/test/apiserver/agents"
	"github.com/refit-dev/refit/test/testbed/figure"
)

// The limits of docs/serve.md, which are for a machine that does nothing else.
const (
	streams     = 200
	manyNodes   = 5000
	changes     = 100
	firstEvent  = 150 * time.Millisecond
	changeEvent = time.Second
	mebibyte    = 1 << 20
	smallMemory = 80  // MiB
	largeMemory = 250 // MiB
	moreMemory  = 40  // MiB for the streams
	growthLimit = 5   // MiB
)

// full skips a test that measures, unless REFIT_SERVE_FULL is set.
func full(t *testing.T) {
	t.Helper()
	if os.Getenv("REFIT_SERVE_FULL") == "" {
		t.Skip("set REFIT_SERVE_FULL=1 to measure")
	}
}

// measured prints a figure and compares it with its limit.
func measured(t *testing.T, name string, value, limit float64, unit string) {
	t.Helper()
	must(t, figure.Print("serve_"+name, math.Round(value*10)/10, unit))
	if value > limit {
		t.Errorf("%s is %.1f %s, the limit is %.0f %s", name, value, unit, limit, unit)
	}
}

func p99(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[(len(all)*99+99)/100-1]
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// program is `refit serve` as a process of its own.
type program struct {
	*serving
	pid     int
	session string
}

var started = regexp.MustCompile(`at (https://\S+)/#code=(\S+)`)

// start starts `refit serve` and signs in with its one-time code.
func (c *cluster) start(t *testing.T) *program {
	t.Helper()
	path := build(t, "../../..", released...)
	cmd := exec.CommandContext(t.Context(), path, "serve", "--listen", "127.0.0.1:0", "--state-dir", t.TempDir(), "--agent-socket", filepath.Join(t.TempDir(), "none"),
		"--kubeconfig", c.Kubeconfig(t, c.RESTConfig()))
	cmd.Stderr = os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Cancel() // it may have ended
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	match := started.FindStringSubmatch(line)
	if match == nil {
		t.Fatalf("the first line is %q", line)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}
	p := &program{serving: &serving{url: match[1], client: &http.Client{Transport: transport}}, pid: cmd.Process.Pid}
	t.Cleanup(p.client.CloseIdleConnections)
	p.session = p.signIn(t, api.SignIn{Code: match[2]})
	return p
}

// released are the flags of the Makefile.
var released = []string{"-trimpath", "-ldflags", "-s -w"}

// build builds the command of a checkout, and returns its path.
func build(t *testing.T, checkout string, flags ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "refit")
	cmd := exec.CommandContext(t.Context(), "go", slices.Concat([]string{"build", "-o", path}, flags, []string{"./cmd/refit"})...)
	cmd.Dir = checkout
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building refit: %v\n%s", err, out)
	}
	return path
}

// complete waits until the server has read this many nodes.
func (p *program) complete(t *testing.T, nodes int) {
	t.Helper()
	for end := time.Now().Add(4 * wait); ; time.Sleep(200 * time.Millisecond) {
		answer, body := p.send(t, request{path: prefix + "state", cookie: p.session})
		var state api.State
		if answer.StatusCode == http.StatusOK && json.Unmarshal(body, &state) == nil && state.Source == api.API && state.Nodes.Total == nodes {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the state is never complete: %d %.300s", answer.StatusCode, body)
		}
	}
}

// memory returns the largest memory of a while, in MiB: its own, and with the pages of the binary,
// which the kernel maps from the file and drops if it needs the space.
func (p *program) memory(t *testing.T) (own, all float64) {
	t.Helper()
	for range 15 { // the server saves its state meanwhile
		time.Sleep(time.Second)
		content, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
		must(t, err)
		sizes := map[string]float64{}
		for _, match := range regexp.MustCompile(`(?m)^(VmRSS|RssFile):\s+(\d+) kB$`).FindAllStringSubmatch(string(content), -1) {
			kib, err := strconv.ParseFloat(match[2], 64)
			must(t, err)
			sizes[match[1]] = kib / 1024
		}
		own, all = max(own, sizes["VmRSS"]-sizes["RssFile"]), max(all, sizes["VmRSS"])
	}
	return own, all
}

// measureMemory measures the server alone and with its streams.
func (p *program) measureMemory(t *testing.T, name string, limit float64) {
	t.Helper()
	alone, all := p.memory(t)
	measured(t, "memory_"+name, alone, limit, "MiB")
	must(t, figure.Print("serve_rss_"+name, math.Round(all*10)/10, "MiB"))
	p.connectAll(t)
	with, _ := p.memory(t)
	measured(t, "memory_"+name+"_200_streams", with-alone, moreMemory, "MiB")
}

// connect opens a stream and returns the time until its first event. The stream stays open.
func (p *program) connect(ctx context.Context) (time.Duration, io.Closer, error) {
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+prefix+"events", http.NoBody)
		if err != nil {
			return 0, nil, err
		}
		r.Header.Set("Cookie", "__Host-refit="+p.session)
		begun := time.Now()
		answer, err := p.client.Do(r)
		if err != nil {
			return 0, nil, err
		}
		if answer.StatusCode == http.StatusTooManyRequests { // as the limit of requests demands
			_ = answer.Body.Close()
			time.Sleep(100 * time.Millisecond)
			continue
		}
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "event: ") {
				took := time.Since(begun)
				go func() {
					for lines.Scan() {
					}
				}()
				return took, answer.Body, nil
			}
		}
		return 0, nil, errors.Join(fmt.Errorf("%s without an event", answer.Status), lines.Err())
	}
}

// connectAll opens the streams, all at once, until the test ends.
func (p *program) connectAll(t *testing.T) {
	t.Helper()
	var group errgroup.Group
	for range streams {
		group.Go(func() error {
			_, stream, err := p.connect(t.Context())
			if err == nil {
				t.Cleanup(func() { _ = stream.Close() })
			}
			return err
		})
	}
	must(t, group.Wait())
}

// firstEvents measures the first event of further streams, at the rate that one caller may have.
func (p *program) firstEvents(t *testing.T) []time.Duration {
	t.Helper()
	var out []time.Duration
	for range changes {
		took, stream, err := p.connect(t.Context())
		must(t, err)
		must(t, stream.Close())
		out = append(out, took)
		time.Sleep(60 * time.Millisecond)
	}
	return out
}

// changed measures the time from a change of a Node until its event.
func (c *cluster) changed(t *testing.T, p *program, node string) (out []time.Duration) {
	t.Helper()
	events := p.follow(t, request{cookie: p.session})
	until(t, events, "state", func(e event) bool { return e.kind == "state" })
	for i := range changes {
		cordoned := i%2 == 0
		patch := fmt.Appendf(nil, `{"spec":{"unschedulable":%v}}`, cordoned)
		begun := time.Now()
		must(t, c.Patch(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}, client.RawPatch(types.MergePatchType, patch)))
		until(t, events, "nodes", func(e event) bool {
			var changed api.NodeChanges
			return e.kind == "nodes" && json.Unmarshal([]byte(e.data), &changed) == nil && len(changed.Changed) == 1 && changed.Changed[0].Node == node &&
				(changed.Changed[0].Cordon != "") == cordoned
		})
		out = append(out, time.Since(begun))
	}
	return out
}

// TestNumbersOfASmallCluster measures `refit serve` with three nodes.
func TestNumbersOfASmallCluster(t *testing.T) {
	full(t)
	c := apart(t)
	c.operation(t, "op")
	for i := range 3 {
		c.node(t, fmt.Sprintf("worker-%d", i+1))
	}
	p := c.start(t)
	p.complete(t, 3)
	p.measureMemory(t, "small", smallMemory)
	measured(t, "first_event_p99", milliseconds(p99(p.firstEvents(t))), milliseconds(firstEvent), "ms")
	measured(t, "change_event_p99", milliseconds(p99(c.changed(t, p, "worker-1"))), milliseconds(changeEvent), "ms")
}

// TestNumbersOfALargeCluster measures `refit serve` with 5,000 nodes, each with a report.
func TestNumbersOfALargeCluster(t *testing.T) {
	full(t)
	c := apart(t)
	c.operation(t, "op")
	wanted := clustertest.HA("v1.35.4", 3, manyNodes-3, clustertest.Agents())
	c.Load(t, 32, agents.Objects(wanted))
	var group errgroup.Group
	group.SetLimit(32)
	for i := range wanted.Nodes {
		n := &wanted.Nodes[i]
		group.Go(func() error {
			report := &refitv1alpha1.NodeReport{ObjectMeta: metav1.ObjectMeta{Name: n.Name}}
			if err := c.Create(t.Context(), report); err != nil {
				return err
			}
			report.Status = *n.Report
			return c.Status().Update(t.Context(), report)
		})
	}
	must(t, group.Wait())
	p := c.start(t)
	p.complete(t, manyNodes)
	p.measureMemory(t, "5000_nodes", largeMemory)
	measured(t, "first_event_5000_nodes_p99", milliseconds(p99(p.firstEvents(t))), milliseconds(firstEvent), "ms")
	measured(t, "change_event_5000_nodes_p99", milliseconds(p99(c.changed(t, p, wanted.Nodes[manyNodes-1].Name))), milliseconds(changeEvent), "ms")
}

// TestGrowthOfTheCommand compares the command with the one before it had a server.
func TestGrowthOfTheCommand(t *testing.T) {
	full(t)
	const root = "../../.."
	git := func(args ...string) []byte {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = root
		out, err := cmd.Output()
		if err != nil {
			t.Skipf("git %v: %v", args, err)
		}
		return out
	}
	added := strings.Fields(string(git("log", "--diff-filter=A", "--format=%H", "--", "cmd/refit/serve.go")))
	if len(added) == 0 {
		t.Skip("the history does not have the commit that added the server")
	}
	before := t.TempDir()
	unpack(t, git("archive", added[len(added)-1]+"^"), before)
	sizes := map[string]float64{}
	for name, b := range map[string]struct{ checkout, tags string }{"before": {before, ""}, "now": {root, ""}, "pages": {root, "web"}} {
		if _, err := os.Stat(filepath.Join(root, "web/dist/index.html")); b.tags != "" && err != nil {
			t.Log("without the pages: run `make web`")
			continue
		}
		info, err := os.Stat(build(t, b.checkout, slices.Concat(released, []string{"-tags", b.tags})...))
		must(t, err)
		sizes[name] = float64(info.Size()) / mebibyte
	}
	must(t, figure.Print("serve_size", math.Round(sizes["now"]*10)/10, "MiB"))
	measured(t, "growth", sizes["now"]-sizes["before"], growthLimit, "MiB")
	if pages, built := sizes["pages"]; built {
		measured(t, "growth_with_pages", pages-sizes["before"], growthLimit, "MiB")
	}
}

// unpack unpacks a tar archive of files and folders.
func unpack(t *testing.T, archive []byte, to string) {
	t.Helper()
	root, err := os.OpenRoot(to)
	must(t, err)
	defer root.Close()
	for reader := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		must(t, err)
		switch header.Typeflag {
		case tar.TypeDir:
			must(t, root.MkdirAll(filepath.Clean(header.Name), 0o755))
		case tar.TypeReg:
			content, err := io.ReadAll(reader)
			must(t, err)
			must(t, root.WriteFile(header.Name, content, 0o600))
		}
	}
}
