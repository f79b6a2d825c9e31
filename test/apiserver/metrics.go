package apiserver

import (
	"bufio"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// EtcdWritten returns how many bytes etcd has written to its log since it started: all writes of
// the API, from any client.
func (s *Server) EtcdWritten(tb testing.TB) int64 {
	tb.Helper()
	written, err := s.etcdMetric(tb, "etcd_disk_wal_write_bytes_total")
	if err != nil {
		tb.Fatalf("cannot query etcd: %v", err)
	}
	return int64(written)
}

// etcdMetric returns the value of an etcd metric that has no labels.
func (s *Server) etcdMetric(tb testing.TB, name string) (float64, error) {
	tb.Helper()
	request, err := http.NewRequestWithContext(tb.Context(), http.MethodGet, "http://"+s.etcdPort.address()+"/metrics", http.NoBody)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if value, is := strings.CutPrefix(lines.Text(), name+" "); is {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("it has no metric %s", name)
}
