package release

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
)

// zipped returns an archive of files, each with its content.
func zipped(t *testing.T, files ...[2]string) []byte {
	t.Helper()
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	w := tar.NewWriter(compressed)
	for _, f := range files {
		err := w.WriteHeader(&tar.Header{Name: f[0], Mode: 0o755, Size: int64(len(f[1]))})
		if err == nil {
			_, err = w.Write([]byte(f[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), compressed.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestFilesInArchivesAreCompared(t *testing.T) {
	for situation, c := range map[string]struct {
		archive []byte
		serve   []byte // nil: the archive
		wrong   int
	}{
		"the archive":               {archive: zipped(t, [2]string{"bin/containerd", "abc"}, [2]string{"bin/ctr", "abc"})},
		"an archive without a file": {archive: zipped(t, [2]string{"bin/containerd", "abc"}), wrong: 1},
		"another file in it":        {archive: zipped(t, [2]string{"bin/containerd", "abc"}, [2]string{"bin/ctr", "abd"}), wrong: 1},
		"another archive": {
			archive: zipped(t, [2]string{"bin/containerd", "abc"}, [2]string{"bin/ctr", "abc"}), serve: []byte("x"), wrong: 1,
		},
	} {
		folder := t.TempDir()
		if c.serve == nil {
			c.serve = c.archive
		}
		write(t, filepath.Join(folder, "containerd.tar.gz"), string(c.serve))
		content := artifact.Release{}
		for _, name := range []string{"containerd", "ctr"} {
			content.Payload.Files = append(content.Payload.Files, refitv1alpha1.ReleaseFile{
				Part: refitv1alpha1.PartContainerd, Name: name, Kind: refitv1alpha1.PackageBinary, OS: "linux", Arch: "amd64", Version: "v2.4.2",
				Blob: refitv1alpha1.Blob{Digest: digestOfABC, Size: 3},
				Archive: &refitv1alpha1.ReleaseArchive{Member: "bin/" + name, Blob: refitv1alpha1.Blob{
					Digest: fmt.Sprintf("sha256:%x", sha256.Sum256(c.archive)), Size: int64(len(c.archive)), Path: "containerd.tar.gz",
				}},
			})
		}
		sources, err := ParseSources([]string{folder})
		if err != nil {
			t.Fatal(err)
		}
		compared, err := Compare(t.Context(), content, sources)
		if err != nil || compared.Files != 1 || len(compared.Wrong) != c.wrong {
			t.Errorf("%s: Compare() = %+v, %v", situation, compared, err)
		}
	}
}
