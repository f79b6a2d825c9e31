package artifact

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// entry is an entry of an archive; without a type it is a regular file.
type entry struct {
	tar.Header

	content []byte
}

func regularFile(name string, content []byte) entry {
	return entry{tar.Header{Name: name, Mode: 0o755}, content}
}

func special(name string, kind byte, link string) entry {
	return entry{tar.Header{Name: name, Typeflag: kind, Linkname: link, Mode: 0o755}, nil}
}

func tarOf(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		e.Size = int64(len(e.content))
		if err := w.WriteHeader(&e.Header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(e.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zip(t *testing.T, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(content)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func archiveOf(t *testing.T, entries ...entry) []byte {
	t.Helper()
	return zip(t, tarOf(t, entries...))
}

// memberOf returns a file of a ClusterRelease that is in an archive.
func memberOf(member string, content, archive []byte) refitv1alpha1.ReleaseFile {
	return refitv1alpha1.ReleaseFile{
		Part: refitv1alpha1.PartContainerd, Name: filepath.Base(member), Kind: refitv1alpha1.PackageBinary, OS: "linux", Arch: "amd64", Version: "v2.4.2",
		Blob: blobOf(content, ""), Archive: &refitv1alpha1.ReleaseArchive{Member: member, Blob: blobOf(archive, "containerd.tar.gz")},
	}
}

var containerdBinary, ctrBinary = bytes.Repeat([]byte("containerd "), 9000), []byte("ctr")

// upstreamArchive has the layout of containerd's.
func upstreamArchive(t *testing.T) []byte {
	t.Helper()
	return archiveOf(t, special("bin/", tar.TypeDir, ""), regularFile("bin/containerd-stress", []byte("stress")),
		regularFile("bin/containerd", containerdBinary), regularFile("bin/ctr", ctrBinary))
}

// served returns a source with one archive, and how often it was downloaded.
func served(t *testing.T, archive []byte) (Source, func() int64) {
	t.Helper()
	source, requests := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(archive))
	})
	return source, requests.Load
}

func TestFilesOfAnArchiveAreExtracted(t *testing.T) {
	s, archive := newStore(t), upstreamArchive(t)
	files := []refitv1alpha1.ReleaseFile{memberOf("bin/containerd", containerdBinary, archive), memberOf("bin/ctr", ctrBinary, archive)}
	source, downloads := served(t, archive)
	for range 2 { // the second time, nothing is missing
		if err := s.FetchMembers(t.Context(), files, []Source{source}); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range files {
		if err := s.Check(t.Context(), f.Blob); err != nil {
			t.Error(err)
		}
		if info, err := os.Stat(s.Path(f.Digest)); err != nil || info.Mode().Perm() != 0o500 {
			t.Errorf("%s cannot be executed: %v %v", f.Name, info, err)
		}
	}
	if n := downloads(); n != 1 {
		t.Errorf("the archive was downloaded %d times", n)
	}
	if stored, _ := os.ReadDir(filepath.Join(s.dir, dirWhole)); len(stored) != 3 {
		t.Errorf("the store has %v, want the archive and two files", stored)
	}
}

func TestDamagedFileIsExtractedAgainWithoutADownload(t *testing.T) {
	s, archive := newStore(t), upstreamArchive(t)
	files := []refitv1alpha1.ReleaseFile{memberOf("bin/containerd", containerdBinary, archive)}
	source, downloads := served(t, archive)
	if err := s.FetchMembers(t.Context(), files, []Source{source}); err != nil {
		t.Fatal(err)
	}
	path := s.Path(files[0].Digest)
	if err := errors.Join(os.Chmod(path, 0o600), os.WriteFile(path, bytes.Repeat([]byte("x"), len(containerdBinary)), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(t.Context(), files[0].Blob); reasonOf(err) != "ArtifactDamaged" {
		t.Fatal(err)
	}
	if err := s.FetchMembers(t.Context(), files, []Source{source}); err != nil || s.Check(t.Context(), files[0].Blob) != nil || downloads() != 1 {
		t.Errorf("%v after %d downloads", err, downloads())
	}
}

// A crash leaves a partial file, which must not become a part of the new one.
func TestInterruptedExtractionStartsAgain(t *testing.T) {
	s, archive := newStore(t), upstreamArchive(t)
	f := memberOf("bin/ctr", ctrBinary, archive)
	if err := os.WriteFile(s.partial(f.Digest), []byte("ctrctr"), 0o600); err != nil {
		t.Fatal(err)
	}
	source, _ := served(t, archive)
	if err := s.FetchMembers(t.Context(), []refitv1alpha1.ReleaseFile{f}, []Source{source}); err != nil || s.Check(t.Context(), f.Blob) != nil {
		t.Error(err)
	}
}

func TestTwoFilesWithTheSameContent(t *testing.T) {
	archive := archiveOf(t, regularFile("bin/containerd", ctrBinary), regularFile("bin/ctr", ctrBinary))
	s := newStore(t)
	source, _ := served(t, archive)
	files := []refitv1alpha1.ReleaseFile{memberOf("bin/containerd", ctrBinary, archive), memberOf("bin/ctr", ctrBinary, archive)}
	if err := s.FetchMembers(t.Context(), files, []Source{source}); err != nil || !s.Has(files[1].Blob) {
		t.Error(err)
	}
}

// Every archive here has its signed digest: its signer was deceived, or the release is hostile.
func TestHostileArchives(t *testing.T) {
	good := upstreamArchive(t)
	wanted := regularFile("bin/containerd", containerdBinary)
	for situation, c := range map[string]struct {
		archive []byte
		change  func(f *refitv1alpha1.ReleaseFile)
		want    string
	}{
		"an entry leads out":                      {archive: archiveOf(t, wanted, regularFile("../../etc/passwd", nil)), want: "invalid name"},
		"an entry leads out by a detour":          {archive: archiveOf(t, wanted, regularFile("bin/../../etc/passwd", nil)), want: "invalid name"},
		"an absolute entry":                       {archive: archiveOf(t, wanted, regularFile("/etc/passwd", nil)), want: "invalid name"},
		"an absolute name of the file":            {archive: archiveOf(t, regularFile("/bin/containerd", containerdBinary)), want: "invalid name"},
		"a backslash":                             {archive: archiveOf(t, wanted, regularFile(`bin\containerd`, nil)), want: "invalid name"},
		"a symbolic link":                         {archive: archiveOf(t, special("bin/containerd", tar.TypeSymlink, "/usr/bin/containerd")), want: "no regular file"},
		"a hard link":                             {archive: archiveOf(t, regularFile("x", containerdBinary), special("bin/containerd", tar.TypeLink, "x")), want: "no regular file"},
		"a device":                                {archive: archiveOf(t, special("bin/containerd", tar.TypeBlock, "")), want: "no regular file"},
		"a character device":                      {archive: archiveOf(t, special("bin/containerd", tar.TypeChar, "")), want: "no regular file"},
		"a pipe":                                  {archive: archiveOf(t, special("bin/containerd", tar.TypeFifo, "")), want: "no regular file"},
		"a directory":                             {archive: archiveOf(t, special("bin/containerd", tar.TypeDir, "")), want: "no regular file"},
		"a sparse file":                           {archive: sparseArchive(t), want: "no regular file"},
		"the file twice":                          {archive: archiveOf(t, wanted, wanted), want: "duplicate"},
		"the file twice, spelled differently":     {archive: archiveOf(t, wanted, regularFile("./bin//containerd", []byte("x"))), want: "duplicate"},
		"a symbolic link after the file":          {archive: archiveOf(t, wanted, special("bin/containerd", tar.TypeSymlink, "x")), want: "duplicate"},
		"no such file":                            {archive: archiveOf(t, regularFile("containerd", containerdBinary)), want: "no regular file"},
		"another case":                            {archive: archiveOf(t, regularFile("bin/Containerd", containerdBinary)), want: "no regular file"},
		"other content":                           {archive: archiveOf(t, regularFile("bin/containerd", bytes.ToUpper(containerdBinary))), want: "does not match"},
		"a larger file":                           {archive: archiveOf(t, regularFile("bin/containerd", append(bytes.Clone(containerdBinary), 'x'))), want: "does not match"},
		"a smaller file":                          {archive: archiveOf(t, regularFile("bin/containerd", containerdBinary[1:])), want: "does not match"},
		"another signed digest of the file":       {good, func(f *refitv1alpha1.ReleaseFile) { f.Digest = blobOf([]byte("x"), "").Digest }, "does not match"},
		"another signed size of the file":         {good, func(f *refitv1alpha1.ReleaseFile) { f.Size++ }, "does not match"},
		"a bomb":                                  {archive: archiveOf(t, regularFile("bin/containerd", make([]byte, 8<<20))), want: "does not match"},
		"cut off":                                 {archive: good[:len(good)-9], want: "unexpected EOF"},
		"cut off in the middle":                   {archive: good[:len(good)/2], want: "unexpected EOF"},
		"only the header":                         {archive: good[:10], want: "EOF"},
		"data after its end":                      {archive: append(bytes.Clone(good), "x"...), want: "data after its end"},
		"zeros after its end":                     {archive: append(bytes.Clone(good), 0, 0, 0), want: "data after its end"},
		"a second archive after it":               {archive: append(bytes.Clone(good), good...), want: "data after its end"},
		"data after the last entry":               {archive: zip(t, append(tarOf(t, wanted), "x"...)), want: "after its last entry"},
		"a second archive after the last entry":   {archive: zip(t, append(tarOf(t, wanted), tarOf(t, wanted)...)), want: "after its last entry"},
		"not compressed":                          {archive: tarOf(t, wanted), want: "invalid header"},
		"not an archive":                          {archive: zip(t, bytes.Repeat([]byte("<html>"), 1000)), want: "invalid tar header"},
		"nothing":                                 {archive: zip(t, nil), want: "no regular file"},
		"a wrong checksum of the compressed data": {archive: flip(good, len(good)-6), want: "checksum"},
	} {
		t.Run(situation, func(t *testing.T) {
			s := newStore(t)
			f := memberOf("bin/containerd", containerdBinary, c.archive)
			if c.change != nil {
				c.change(&f)
			}
			source, _ := served(t, c.archive)
			err := s.FetchMembers(t.Context(), []refitv1alpha1.ReleaseFile{f}, []Source{source})
			if reasonOf(err) != "ArchiveInvalid" || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v (%s), want %q in it", err, reasonOf(err), c.want)
			}
			if _, err := ProveMembers(t.Context(), []refitv1alpha1.ReleaseFile{f}, []Source{source}); err == nil {
				t.Error("refit release verify accepts it")
			}
			if s.Has(f.Blob) {
				t.Error("the file is in the store")
			}
			if rest, _ := os.ReadDir(filepath.Join(s.dir, dirPartial)); len(rest) > 0 {
				t.Errorf("it left %v", rest)
			}
		})
	}
}

// sparseArchive has the file as a sparse one, which the package tar cannot write.
func sparseArchive(t *testing.T) []byte {
	t.Helper()
	e := regularFile("bin/containerd", containerdBinary)
	e.PAXRecords = map[string]string{"GNU.sparsX.name": "bin/containerd"}
	return zip(t, bytes.Replace(tarOf(t, e), []byte("GNU.sparsX"), []byte("GNU.sparse"), 1))
}

func flip(content []byte, at int) []byte {
	out := bytes.Clone(content)
	out[at] ^= 1
	return out
}

func TestArchiveBeyondItsLimits(t *testing.T) {
	bomb := archiveOf(t, regularFile("bin/ctr", ctrBinary), regularFile("zeros", make([]byte, 1<<20)))
	padded := zip(t, append(tarOf(t, regularFile("bin/ctr", ctrBinary)), make([]byte, 1<<20)...))
	var many []entry
	for i := range 20 {
		many = append(many, regularFile("d/"+strings.Repeat("x", i+1), nil))
	}
	limits := archiveLimits{bytes: 64 << 10, entries: 10}
	for situation, c := range map[string]struct {
		archive []byte
		want    string
	}{
		"an entry that nobody reads": {bomb, "too many bytes"},
		"padding":                    {padded, "too many bytes"},
		"entries":                    {archiveOf(t, many...), "more than 10 entries"},
	} {
		err := walkArchive(t.Context(), bytes.NewReader(c.archive), limits, func(Member) error { return nil })
		if !errors.Is(err, errArchive) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", situation, err, c.want)
		}
	}
	if err := walkArchive(t.Context(), bytes.NewReader(bomb), defaultLimits, func(Member) error { return nil }); err != nil {
		t.Error(err)
	}
}

func TestNamesAsTarWritesThem(t *testing.T) {
	archive := archiveOf(t, special("./", tar.TypeDir, ""), regularFile("./bridge", []byte("bridge")), special("lib", tar.TypeSymlink, "/usr/lib"))
	var got []string
	err := WalkArchive(t.Context(), bytes.NewReader(archive), func(m Member) error {
		content, err := io.ReadAll(m.Content)
		got = append(got, m.Path+"="+string(content))
		return err
	})
	if err != nil || len(got) != 1 || got[0] != "bridge=bridge" {
		t.Errorf("%v %v", got, err)
	}
}

func TestExtractionEndsWithItsContext(t *testing.T) {
	s, archive := newStore(t), upstreamArchive(t)
	f := memberOf("bin/containerd", containerdBinary, archive)
	source, _ := served(t, archive)
	if err := s.Fetch(t.Context(), f.Archive.Blob, []Source{source}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := s.FetchMembers(ctx, []refitv1alpha1.ReleaseFile{f}, nil)
	if !errors.Is(err, context.Canceled) || reasonOf(err) == "ArchiveInvalid" {
		t.Error(err)
	}
}

// archiveMutations is the number of mutations of each of: the archive, the signed payload, and the
// archive whose digest was signed after the mutation.
const archiveMutations = 200

// TestMutatedArchives changes an archive and the ClusterRelease that names it, as a hostile mirror
// or cluster could. None may be accepted.
func TestMutatedArchives(t *testing.T) {
	archive, key := upstreamArchive(t), NewKey()
	f := memberOf("bin/containerd", containerdBinary, archive)
	content := mustJSON(t, refitv1alpha1.ReleasePayload{Kubernetes: "v1.36.3", Containerd: "2.4.2", Files: []refitv1alpha1.ReleaseFile{f}})
	envelope, err := Sign(content, key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(envelope, []PublicKey{PublicOf(key)}); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(22, 1))
	accepted, inert := 0, 0
	for n := range archiveMutations {
		changed := mutated(random, archive)
		if len(changed) == 0 {
			changed = archive[:1]
		}
		if err := fetchFrom(t, changed, f); err == nil {
			accepted++
			t.Errorf("mutation %d of the archive was accepted", n)
		}
		other := f // the mutated archive is the signed one
		other.Archive = &refitv1alpha1.ReleaseArchive{Member: f.Archive.Member, Blob: blobOf(changed, "containerd.tar.gz")}
		s := newStore(t)
		if err := s.FetchMembers(t.Context(), []refitv1alpha1.ReleaseFile{other}, []Source{folderWith(t, changed)}); err == nil {
			if inert++; s.Check(t.Context(), f.Blob) != nil {
				accepted++
				t.Errorf("mutation %d of a signed archive changed the file", n)
			}
		}
		// Another key ID, or a space, changes nothing that is signed.
		if release, err := Verify(mutate(random, envelope), []PublicKey{PublicOf(key)}); err == nil && !bytes.Equal(mustJSON(t, release.Payload), content) {
			accepted++
			t.Errorf("mutation %d of the envelope was accepted", n)
		}
	}
	t.Logf("%d mutations of signed archives had no effect on the file", inert)
	t.Logf("figure archive_mutations %d mutations", 3*archiveMutations)
	t.Logf("figure archive_mutations_accepted %d mutations", accepted)
}

func folderWith(t *testing.T, archive []byte) Source {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "containerd.tar.gz"), archive, 0o600); err != nil {
		t.Fatal(err)
	}
	return folder(dir)
}

func fetchFrom(t *testing.T, archive []byte, f refitv1alpha1.ReleaseFile) error {
	t.Helper()
	return newStore(t).FetchMembers(t.Context(), []refitv1alpha1.ReleaseFile{f}, []Source{folderWith(t, archive)})
}

// mutated changes a document.
func mutated(random *rand.Rand, before []byte) []byte {
	for {
		if after := scramble(random, before); !bytes.Equal(after, before) {
			return after
		}
	}
}
