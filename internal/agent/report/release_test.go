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
	file := func(part refitv1alpha1.Part, b refitv1alpha1.Blob) refitv1alpha1.ReleaseFile {
		return refitv1alpha1.ReleaseFile{Part: part, OS: runtime.GOOS, Arch: runtime.GOARCH, Kind: refitv1alpha1.PackageBinary, Blob: b}
	}
	release := artifact.Release{Payload: refitv1alpha1.ReleasePayload{Files: []refitv1alpha1.ReleaseFile{
		file(refitv1alpha1.PartKubelet, kubelet), file(refitv1alpha1.PartKubectl, kubectl),
	}}}
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
		s.Parts = func(context.Context) ([]refitv1alpha1.PartFacts, error) {
			return []refitv1alpha1.PartFacts{
				{Part: refitv1alpha1.PartKubelet, Kind: refitv1alpha1.PackageBinary}, {Part: refitv1alpha1.PartKubectl, Kind: refitv1alpha1.PackageBinary},
			}, nil
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

// A host may have the kubelet from a package, containerd from an archive, and no kubectl.
func TestDiskSpaceCountsEachPartByItsOwnKind(t *testing.T) {
	store, err := artifact.OpenStore(filepath.Join(t.TempDir(), "store"))
	must(t, err)
	file := func(part refitv1alpha1.Part, kind refitv1alpha1.PackageKind, size int64) refitv1alpha1.ReleaseFile {
		digest := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(string(part)+string(kind))))
		return refitv1alpha1.ReleaseFile{
			Part: part, Name: string(part), Kind: kind, OS: runtime.GOOS, Arch: runtime.GOARCH, Blob: refitv1alpha1.Blob{Digest: digest, Size: size},
		}
	}
	payload := refitv1alpha1.ReleasePayload{}
	for _, part := range []refitv1alpha1.Part{refitv1alpha1.PartKubeadm, refitv1alpha1.PartKubelet, refitv1alpha1.PartKubectl, refitv1alpha1.PartContainerd} {
		payload.Files = append(payload.Files, file(part, refitv1alpha1.PackageDeb, 100), file(part, refitv1alpha1.PackageBinary, 10))
	}
	s := rooted(t, nil)
	s.Release = &Wanted{Release: artifact.Release{Payload: payload}, Store: store}
	s.Parts = func(context.Context) ([]refitv1alpha1.PartFacts, error) {
		return []refitv1alpha1.PartFacts{
			{Part: refitv1alpha1.PartKubelet, Kind: refitv1alpha1.PackageDeb, Package: "kubelet"},
			{Part: refitv1alpha1.PartContainerd, Kind: refitv1alpha1.PackageBinary},
		}, nil
	}
	// kubeadm, which is missing, and kubelet from packages; containerd as a plain file.
	if stored, installed, _ := s.releaseBytes(t.Context()); stored != 210 || installed != 200*unpackedPackage+10 {
		t.Errorf("%d bytes to store and %d to install", stored, installed)
	}
}

func TestDiskSpaceCountsAnArchiveOnce(t *testing.T) {
	store, err := artifact.OpenStore(filepath.Join(t.TempDir(), "store"))
	must(t, err)
	blob := func(text string, size int64) refitv1alpha1.Blob {
		return refitv1alpha1.Blob{Digest: fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))), Size: size}
	}
	var payload refitv1alpha1.ReleasePayload
	for _, name := range []string{"containerd", "ctr"} {
		payload.Files = append(payload.Files, refitv1alpha1.ReleaseFile{
			Part: refitv1alpha1.PartContainerd, Name: name, Kind: refitv1alpha1.PackageBinary, OS: runtime.GOOS, Arch: runtime.GOARCH, Blob: blob(name, 10),
			Archive: &refitv1alpha1.ReleaseArchive{Member: name, Blob: blob("archive", 5)},
		})
	}
	s := rooted(t, nil)
	s.Release = &Wanted{Release: artifact.Release{Payload: payload}, Store: store}
	s.Parts = func(context.Context) ([]refitv1alpha1.PartFacts, error) {
		return []refitv1alpha1.PartFacts{{Part: refitv1alpha1.PartContainerd, Kind: refitv1alpha1.PackageBinary}}, nil
	}
	if stored, installed, _ := s.releaseBytes(t.Context()); stored != 25 || installed != 20 {
		t.Errorf("%d bytes to store and %d to install", stored, installed)
	}
	must(t, os.WriteFile(store.Path(payload.Files[0].Archive.Digest), []byte("12345"), 0o400))
	if stored, _, _ := s.releaseBytes(t.Context()); stored != 20 {
		t.Errorf("%d bytes to store beside the archive", stored)
	}
}
