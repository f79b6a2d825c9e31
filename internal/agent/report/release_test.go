package report

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/host"
)

func TestMissingArtifactsCountsWhatThisHostNeeds(t *testing.T) {
	dir := t.TempDir()
	store, err := artifact.OpenStore(filepath.Join(dir, "store"))
	must(t, err)
	blob := func(text string) refitv1alpha1.Blob {
		return refitv1alpha1.Blob{Digest: fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))), Size: int64(len(text))}
	}
	kubelet, kubectl, image := blob("kubelet"), blob("kubectl"), blob("image")
	must(t, os.WriteFile(store.Path(kubelet.Digest), []byte("kubelet"), 0o400))
	file := func(b refitv1alpha1.Blob) refitv1alpha1.ReleaseFile {
		return refitv1alpha1.ReleaseFile{OS: runtime.GOOS, Arch: runtime.GOARCH, Kind: refitv1alpha1.PackageBinary, Blob: b}
	}
	release := artifact.Release{Payload: refitv1alpha1.ReleasePayload{Files: []refitv1alpha1.ReleaseFile{file(kubelet), file(kubectl)}}}
	for situation, tt := range map[string]struct {
		blobs []refitv1alpha1.Blob
		want  int32
	}{
		"a missing image archive, kubectl not needed": {[]refitv1alpha1.Blob{kubelet, image, image}, 1},
		"two missing":    {[]refitv1alpha1.Blob{kubectl, image}, 2},
		"none missing":   {[]refitv1alpha1.Blob{kubelet}, 0},
		"nothing needed": {[]refitv1alpha1.Blob{}, 0},
		"unknown needs":  {nil, 1},
	} {
		s := rooted(t, nil)
		s.Unit = func(context.Context, string) (host.Unit, error) {
			return host.Unit{Exists: true, ExecStart: []string{filepath.Join(dir, "kubelet")}}, nil
		}
		s.Release = &Wanted{Ref: refitv1alpha1.ReleaseRef{Name: "r"}, Release: release, Store: store, Blobs: tt.blobs}
		write, err := artifacts(t.Context(), s)
		must(t, err)
		var got refitv1alpha1.NodeReportStatus
		write(&got)
		if got.Release == nil || got.Release.Name != "r" || *got.MissingArtifacts != tt.want {
			t.Errorf("%s: %d, want %d", situation, *got.MissingArtifacts, tt.want)
		}
	}
}
