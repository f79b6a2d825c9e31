package helm

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"maps"
	"slices"
	"testing"
)

const chartYAML = "apiVersion: v2\nname: app\nversion: 1.0.0\nappVersion: \"1.0\"\n"

var target = Capabilities{Kubernetes: "v1.36.3", APIVersions: []string{"v1", "apps/v1"}}

// packed packs the files of a chart.
func packed(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	archive := tar.NewWriter(compressed)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		must(t, archive.WriteHeader(&tar.Header{Name: "app/" + name, Mode: 0o644, Size: int64(len(files[name])), Typeflag: tar.TypeReg}))
		_, err := archive.Write([]byte(files[name]))
		must(t, err)
	}
	must(t, archive.Close())
	must(t, compressed.Close())
	return out.Bytes()
}

// chartOf loads a chart with these files and a Chart.yaml.
func chartOf(t *testing.T, files map[string]string) *Chart {
	t.Helper()
	all := map[string]string{"Chart.yaml": chartYAML}
	maps.Copy(all, files)
	chart, err := Load(packed(t, all))
	must(t, err)
	return chart
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
