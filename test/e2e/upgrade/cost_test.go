//go:build e2e

package upgrade

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/refit-dev/refit/test/testbed/cluster"
)

// cost is what something costs a control plane host.
type cost struct {
	seconds float64
	cpu     float64 // seconds of etcd, the agent and the measured tool
	disk    float64 // bytes that it needed at most beyond those before
	written float64 // bytes that reached the disk meanwhile
	p99     float64 // seconds of requests to the API
}

// costOf measures and prints what work costs. Work returns the CPU time of its own processes.
func (s *site) costOf(t *testing.T, cp *cluster.Node, name string, gib int, work func(context.Context) (float64, error)) cost {
	t.Helper()
	before, err := cpuSeconds(t.Context(), cp)
	must(t, err)
	used, err := usedBytes(t.Context(), cp)
	must(t, err)
	writtenBefore, err := writtenBytes(t.Context(), cp)
	must(t, err)
	watching, stop := context.WithCancel(t.Context())
	var done sync.WaitGroup
	var peak, memory float64
	var answers []time.Duration
	done.Go(func() { peak = peakOf(watching, cp, usedBytes) })
	done.Go(func() { memory = peakOf(watching, cp, memoryBytes) })
	done.Go(func() { answers = s.answerTimes(watching) })
	begun := time.Now()
	own, err := work(t.Context())
	c := cost{seconds: time.Since(begun).Seconds()}
	stop()
	done.Wait()
	must(t, err)
	after, err := cpuSeconds(t.Context(), cp)
	must(t, err)
	written, err := writtenBytes(t.Context(), cp)
	must(t, err)
	c.cpu, c.disk, c.written = after-before+own, max(0, peak-used), written-writtenBefore
	slices.Sort(answers)
	if len(answers) < 20 {
		t.Fatalf("%s: %d requests to the API are too few", name, len(answers))
	}
	c.p99 = answers[len(answers)*99/100].Seconds()
	prefix := fmt.Sprintf("size_%dgib_%s", gib, name)
	show(t, prefix+"_time", c.seconds, "s")
	show(t, prefix+"_cpu_per_gib", c.cpu/float64(gib), "s")
	show(t, prefix+"_disk", c.disk/(1<<30), "GiB")
	show(t, prefix+"_disk_written", c.written/(1<<30), "GiB")
	show(t, prefix+"_memory", memory/(1<<30), "GiB")
	show(t, prefix+"_api_p99", c.p99*1000, "ms")
	return c
}

// cpuSeconds is the CPU time of etcd and of the agent, children that have ended included.
func cpuSeconds(ctx context.Context, cp *cluster.Node) (float64, error) {
	var ticks float64
	for _, name := range []string{"etcd", "refit-agent"} {
		pid, err := cp.Exec(ctx, "pgrep", "--exact", "--oldest", name)
		if err != nil {
			return 0, fmt.Errorf("%s does not run: %w", name, err)
		}
		stat, err := cp.Exec(ctx, "cat", "/proc/"+strings.TrimSpace(string(pid))+"/stat")
		if err != nil {
			return 0, err
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(rest)
		if len(fields) < 16 {
			return 0, errors.New("/proc/PID/stat is too short")
		}
		for _, field := range fields[11:15] { // utime, stime, and those of children
			n, err := strconv.ParseFloat(field, 64)
			if err != nil {
				return 0, err
			}
			ticks += n
		}
	}
	return ticks / 100, nil
}

func usedBytes(ctx context.Context, cp *cluster.Node) (float64, error) {
	out, err := cp.Exec(ctx, "df", "--output=used", "--block-size=1", "/var/lib/etcd")
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(out))
	return strconv.ParseFloat(fields[len(fields)-1], 64)
}

// writtenBytes is what was written to the disk of etcd since it was mounted.
func writtenBytes(ctx context.Context, cp *cluster.Node) (float64, error) {
	device, err := cp.Exec(ctx, "findmnt", "--noheadings", "--output", "MAJ:MIN", "--target", "/var/lib/etcd")
	if err != nil {
		return 0, err
	}
	stat, err := cp.Exec(ctx, "cat", "/sys/dev/block/"+strings.TrimSpace(string(device))+"/stat")
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(stat))
	if len(fields) < 7 {
		return 0, errors.New("the statistics of the disk are too short")
	}
	sectors, err := strconv.ParseFloat(fields[6], 64)
	return sectors * 512, err
}

// memoryBytes is the resident memory of the agent and of what it runs for a drill, with the pages
// of the database that they have mapped. The cluster's own etcd is the oldest one.
func memoryBytes(ctx context.Context, cp *cluster.Node) (float64, error) {
	out, err := cp.Exec(ctx, "ps", "--no-headers", "--sort=start_time", "-o", "comm,rss", "-C", "etcd,etcdutl,refit-agent")
	if err != nil {
		return 0, err
	}
	var sum float64
	live := true
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) != 2 {
			return 0, fmt.Errorf("ps prints %q", line)
		}
		if fields[0] == "etcd" && live {
			live = false
			continue
		}
		kib, err := strconv.ParseFloat(fields[1], 64)
		if err != nil {
			return 0, err
		}
		sum += kib * 1024
	}
	return sum, nil
}

// peakOf returns the largest measurement until the context ends.
func peakOf(ctx context.Context, cp *cluster.Node, measure func(context.Context, *cluster.Node) (float64, error)) float64 {
	var peak float64
	for tick := time.NewTicker(500 * time.Millisecond); ; {
		if used, err := measure(ctx, cp); err == nil {
			peak = max(peak, used)
		}
		select {
		case <-ctx.Done():
			tick.Stop()
			return peak
		case <-tick.C:
		}
	}
}

// answerTimes gets a Namespace twenty times a second until the context ends.
func (s *site) answerTimes(ctx context.Context) []time.Duration {
	var out []time.Duration
	for tick := time.NewTicker(50 * time.Millisecond); ; {
		begun := time.Now()
		_, err := s.Client.CoreV1().Namespaces().Get(ctx, "default", metav1.GetOptions{})
		if ctx.Err() != nil {
			tick.Stop()
			return out
		}
		if err == nil {
			out = append(out, time.Since(begun))
		}
		<-tick.C
	}
}
