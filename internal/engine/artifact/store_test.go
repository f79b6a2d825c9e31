package artifact

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func filled(t *testing.T, contents ...string) (s *Store, blobs []refitv1alpha1.Blob) {
	t.Helper()
	s = newStore(t)
	dir := t.TempDir()
	for _, content := range contents {
		b := blobOf([]byte(content), "files/"+content)
		write(t, filepath.Join(dir, b.Path), content, 0o644)
		if err := s.Fetch(t.Context(), b, []Source{sourceAt(t, dir)}); err != nil {
			t.Fatal(err)
		}
		blobs = append(blobs, b)
	}
	return s, blobs
}

func TestStoreIsForItsOwnerOnly(t *testing.T) {
	s, blobs := filled(t, "a")
	for path, want := range map[string]os.FileMode{s.dir: 0o700, filepath.Join(s.dir, dirWhole): 0o700, s.Path(blobs[0].Digest): 0o500} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v, want %v", path, info.Mode(), err, want)
		}
	}
}

func TestFileThatIsDamagedOnDiskIsQuarantined(t *testing.T) {
	s, blobs := filled(t, "abc")
	if err := s.Check(t.Context(), blobs[0]); err != nil {
		t.Fatal(err)
	}
	chmod(t, s.Path(blobs[0].Digest), 0o700)
	write(t, s.Path(blobs[0].Digest), "abx", 0o500)
	if !s.Has(blobs[0]) {
		t.Error("Has does not compare only the size")
	}
	if err := s.Check(t.Context(), blobs[0]); reasonOf(err) != "ArtifactDamaged" || s.Has(blobs[0]) {
		t.Errorf("%v; stored: %v", err, s.Has(blobs[0]))
	}
	if err := s.Check(t.Context(), blobs[0]); reasonOf(err) != "ArtifactMissing" {
		t.Error(err)
	}
}

func TestFileOfAnotherSizeIsMissing(t *testing.T) {
	s, blobs := filled(t, "abc")
	chmod(t, s.Path(blobs[0].Digest), 0o700)
	if err := os.Truncate(s.Path(blobs[0].Digest), 1); err != nil {
		t.Fatal(err)
	}
	if s.Has(blobs[0]) || len(s.Missing(blobs)) != 1 {
		t.Error("a file of another size counts as stored")
	}
}

func TestMissingFilesAreListedOnce(t *testing.T) {
	s, blobs := filled(t, "a", "b")
	other := blobOf([]byte("c"), "c")
	if got := s.Missing(append(blobs, other, other)); len(got) != 1 || got[0].Digest != other.Digest {
		t.Errorf("%v", got)
	}
}

func TestKeepRemovesAllOtherFiles(t *testing.T) {
	s, blobs := filled(t, "a", "b")
	write(t, s.partial(blobOf([]byte("c"), "").Digest), "half", 0o600)
	write(t, filepath.Join(s.dir, dirBad, "x"), "bad", 0o400)
	if err := s.Keep(map[string]bool{blobs[1].Digest: true}); err != nil {
		t.Fatal(err)
	}
	var left []string
	err := filepath.WalkDir(s.dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			left = append(left, filepath.Base(path))
		}
		return err
	})
	if err != nil || strings.Join(left, " ") != hexOf(blobs[1].Digest) {
		t.Errorf("%v %v", left, err)
	}
}

func TestConcurrentFetchesOfAFileTransferItOnce(t *testing.T) {
	content := someFile()
	source, requests := serve(t, good(content))
	s, b := newStore(t), blobOf(content, "x")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if err := s.Fetch(t.Context(), b, []Source{source}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if err := s.Check(t.Context(), b); err != nil || requests.Load() != 1 {
		t.Errorf("%v, %d requests", err, requests.Load())
	}
}

func TestFileIsNotOpenedAsAStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	write(t, path, "x", 0o600)
	if _, err := OpenStore(path); err == nil {
		t.Error("a file is opened as a store")
	}
}
