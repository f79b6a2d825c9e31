package bed

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/refit-dev/refit/test/testbed"
	"github.com/refit-dev/refit/test/testbed/builder"
)

// Prometheus returns the binaries of Prometheus.
func Prometheus(t *testing.T) builder.Prometheus {
	t.Helper()
	out, err := testbed.Builder(t).Prometheus(context.WithoutCancel(t.Context()))
	Must(t, err)
	return out
}

// PrometheusServer is a server with its URL.
type PrometheusServer string

// StartPrometheus starts Prometheus with a configuration. It ends with the test.
func StartPrometheus(t *testing.T, config string) PrometheusServer {
	t.Helper()
	address := freeAddress(t, "127.0.0.1")
	file := filepath.Join(t.TempDir(), "prometheus.yaml")
	Must(t, os.WriteFile(file, []byte(config), 0o600))
	startServer(t, "http://"+address+"/-/ready", nil, Prometheus(t).Server,
		"--config.file="+file, "--storage.tsdb.path="+t.TempDir(), "--web.listen-address="+address, "--log.level=warn")
	return PrometheusServer("http://" + address)
}

// Series is a series of a query, with a value at each time.
type Series struct {
	Metric map[string]string `json:"metric"`
	Values []any             `json:"values"`
}

// QueryRange returns the series of a query from a time until now.
func (s PrometheusServer) QueryRange(ctx context.Context, query string, from time.Time, step time.Duration) ([]Series, error) {
	values := url.Values{
		"query": {query}, "start": {fmt.Sprint(from.Unix())}, "end": {fmt.Sprint(time.Now().Unix())}, "step": {fmt.Sprint(step.Seconds())},
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, string(s)+"/api/v1/query_range?"+values.Encode(), http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var out struct {
		Status, Error string
		Data          struct{ Result []Series }
	}
	if err := json.NewDecoder(response.Body).Decode(&out); err != nil {
		return nil, fmt.Errorf("reading the answer of Prometheus: %w", err)
	}
	if out.Status != "success" {
		return nil, fmt.Errorf("query %s: %s", query, out.Error)
	}
	return out.Data.Result, nil
}
