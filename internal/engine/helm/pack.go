package helm

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"slices"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
)

// Pack packs the directory of a chart. Equal files give equal bytes, so that a publisher can pack
// it again and compare the digests. It follows .helmignore.
func Pack(directory string) ([]byte, error) {
	content, err := loader.LoadDir(directory)
	if err != nil {
		return nil, fmt.Errorf("cannot pack the chart: %w", err)
	}
	files := slices.Clone(content.Raw)
	slices.SortFunc(files, func(a, b *common.File) int { return cmp.Compare(a.Name, b.Name) })
	var out bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(compressed)
	for _, file := range files {
		header := &tar.Header{Name: content.Name() + "/" + file.Name, Mode: 0o644, Size: int64(len(file.Data)), Typeflag: tar.TypeReg, Format: tar.FormatPAX}
		if err := archive.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("cannot pack %s: %w", file.Name, err)
		}
		if _, err := archive.Write(file.Data); err != nil {
			return nil, fmt.Errorf("cannot pack %s: %w", file.Name, err)
		}
	}
	if err := cmp.Or(archive.Close(), compressed.Close()); err != nil {
		return nil, fmt.Errorf("cannot pack the chart: %w", err)
	}
	return out.Bytes(), nil
}
