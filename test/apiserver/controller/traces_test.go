//go:build apiserver

package controller

import (
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	collectorv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// collector receives traces by OTLP.
type collector struct {
	mu    sync.Mutex
	spans map[string]*tracev1.Span // by ID
	// differing are spans that were received twice and were not the same.
	differing []string
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{spans: map[string]*tracev1.Span{}}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	return c
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		body, _ = gzip.NewReader(r.Body)
	}
	var request collectorv1.ExportTraceServiceRequest
	text, err := io.ReadAll(body)
	if err != nil || proto.Unmarshal(text, &request) != nil {
		http.Error(w, "unreadable", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range request.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				id := hex.EncodeToString(span.GetSpanId())
				if was := c.spans[id]; was != nil && !proto.Equal(was, span) {
					c.differing = append(c.differing, fmt.Sprintf("%s and %s", was, span))
				}
				c.spans[id] = span
			}
		}
	}
}

// paths are the names of the spans with those of their parents.
func (c *collector) paths() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for _, span := range c.spans {
		path := span.GetName()
		for parent := span; len(parent.GetParentSpanId()) > 0; path = parent.GetName() + "/" + path {
			if parent = c.spans[hex.EncodeToString(parent.GetParentSpanId())]; parent == nil {
				path = "?/" + path
				break
			}
		}
		out = append(out, path)
	}
	return out
}

// TestTheTraceOfAnUpgradeSurvivesChangesOfTheLeader replaces the controllers twice: each new leader
// exports what exists again, with the same IDs.
func TestTheTraceOfAnUpgradeSurvivesChangesOfTheLeader(t *testing.T) {
	c := newCollector(t)
	b := newBed(t)
	stop := b.controllers()
	b.upgrade(op)
	for _, done := range []int32{2, 5} {
		b.until(op, fmt.Sprintf("has upgraded %d nodes", done), func(u *refitv1alpha1.ClusterUpgrade) bool { return u.Status.Nodes.Done >= done })
		stop()
		stop = b.controllers()
	}
	b.until(op, "succeeds", phase(refitv1alpha1.PhaseSucceeded))
	want := []string{"upgrade to " + to}
	for _, stage := range []string{"Prefetch", "ControlPlane", "Workers", "Verify"} {
		want = append(want, "upgrade to "+to+"/"+stage+" "+to)
	}
	for _, name := range everyNode {
		stage := "/ControlPlane "
		if strings.HasPrefix(name, "worker") {
			stage = "/Workers "
		}
		upgrade := "upgrade to " + to + stage + to + "/upgrade " + name
		want = append(want, upgrade, upgrade+"/drain", upgrade+"/verify-node", "upgrade to "+to+"/Prefetch "+to+"/prefetch "+name+"/fetch")
	}
	b.wait("the trace is complete", func() (bool, string) {
		got := c.paths()
		missing := slices.DeleteFunc(slices.Clone(want), func(path string) bool { return slices.Contains(got, path) })
		orphans := slices.DeleteFunc(got, func(path string) bool { return !strings.HasPrefix(path, "?") })
		return len(missing)+len(orphans) == 0, fmt.Sprintf("missing %q, without a parent %q", missing, orphans)
	})
	if len(c.differing) > 0 {
		t.Errorf("spans with one ID: %q", c.differing)
	}
	traces := map[string]bool{}
	for _, span := range c.spans {
		traces[hex.EncodeToString(span.GetTraceId())] = true
		if code := span.GetStatus().GetCode(); code != tracev1.Status_STATUS_CODE_UNSET {
			t.Errorf("%s has the status %s", span.GetName(), code)
		}
	}
	if len(traces) != 1 {
		t.Errorf("there are %d traces: %v", len(traces), slices.Collect(maps.Keys(traces)))
	}
}
