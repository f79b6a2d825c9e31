package bed

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/refit-dev/refit/test/testbed"
)

// Collector is an OpenTelemetry Collector that writes what it receives to a file.
type Collector struct {
	URL  string
	file string
}

// StartCollector starts a collector on an address of this machine. It ends with the test.
func StartCollector(t *testing.T, host string) *Collector {
	t.Helper()
	binary, err := testbed.Builder(t).Collector(context.WithoutCancel(t.Context()))
	Must(t, err)
	dir := t.TempDir()
	c := &Collector{URL: "http://" + freeAddress(t, host), file: filepath.Join(dir, "traces.json")}
	config := filepath.Join(dir, "collector.yaml")
	Must(t, os.WriteFile(config, fmt.Appendf(nil, `receivers: {otlp: {protocols: {http: {endpoint: '%s'}}}}
exporters: {file: {path: '%s', append: true}}
service:
  telemetry: {metrics: {level: none}, logs: {level: warn}}
  pipelines: {traces: {receivers: [otlp], exporters: [file]}}
`, c.URL[len("http://"):], c.file), 0o600))
	startServer(t, c.URL+"/v1/traces", nil, binary, "--config=file:"+config)
	return c
}

// ReceivedSpan is a span as the collector wrote it.
type ReceivedSpan struct {
	TraceID    string `json:"traceId"`
	SpanID     string `json:"spanId"`
	Parent     string `json:"parentSpanId"`
	Name       string `json:"name"`
	Start      string `json:"startTimeUnixNano"`
	End        string `json:"endTimeUnixNano"`
	Attributes []struct {
		Key   string
		Value struct{ StringValue, IntValue string }
	} `json:"attributes"`
	Status struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"status"`
}

// Attribute returns an attribute, empty if there is none.
func (s *ReceivedSpan) Attribute(key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.StringValue + a.Value.IntValue
		}
	}
	return ""
}

// Spans returns everything that the collector has received so far, in that order.
func (c *Collector) Spans() ([]ReceivedSpan, error) {
	file, err := os.Open(c.file)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var out []ReceivedSpan
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var request struct {
			ResourceSpans []struct {
				ScopeSpans []struct{ Spans []ReceivedSpan }
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &request); err != nil {
			return out, nil // the last line is incomplete until it is flushed
		}
		for _, resource := range request.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				out = append(out, scope.Spans...)
			}
		}
	}
	return out, lines.Err()
}
