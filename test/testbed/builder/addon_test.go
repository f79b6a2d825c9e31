package builder

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestAChartIsPackedWithItsVersionAndEqualTwice(t *testing.T) {
	chart := t.TempDir()
	if err := os.MkdirAll(filepath.Join(chart, "templates"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"Chart.yaml": "apiVersion: v2\nname: lws\nversion: 0.1.0\nappVersion: v0.8.0\n", "templates/a.yaml": "kind: ConfigMap\n",
	} {
		if err := os.WriteFile(filepath.Join(chart, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var packed [2][]byte
	for i := range packed {
		to := filepath.Join(t.TempDir(), "chart.tgz")
		if err := packChart(chart, "lws", "0.8.0", to); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(to)
		if err != nil {
			t.Fatal(err)
		}
		packed[i] = content
	}
	if !bytes.Equal(packed[0], packed[1]) {
		t.Error("two archives of the same chart differ")
	}
	files := unpacked(t, packed[0])
	if got, want := files["lws/Chart.yaml"], "apiVersion: v2\nname: lws\nversion: 0.8.0\nappVersion: v0.8.0\n"; got != want {
		t.Errorf("Chart.yaml is\n%s", got)
	}
	if files["lws/templates/a.yaml"] != "kind: ConfigMap\n" {
		t.Errorf("the archive has %v", files)
	}
}

func unpacked(t *testing.T, archive []byte) map[string]string {
	t.Helper()
	zipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for reader := tar.NewReader(zipped); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = string(content)
	}
}
