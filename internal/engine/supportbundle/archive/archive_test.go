package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/redact"
	"github.com/refit-dev/refit/internal/upgrade/supportbundle"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newIndex() *cliv1alpha1.SupportBundle {
	return &cliv1alpha1.SupportBundle{Kind: cliv1alpha1.KindSupportBundle, Time: time.Date(2026, 11, 19, 8, 0, 0, 0, time.UTC)}
}

func bundleOf(t *testing.T, limit int64, parts ...Part) ([]byte, *cliv1alpha1.SupportBundle) {
	t.Helper()
	var out bytes.Buffer
	index := newIndex()
	w := New(&out, index, "n1", limit)
	for _, p := range parts {
		must(t, w.Add(p))
	}
	must(t, w.Close())
	return out.Bytes(), index
}

func text(path, content string) Part {
	return Part{BundlePart: cliv1alpha1.BundlePart{Path: path, Source: path, Redactions: map[string]int64{"jwt": 1}}, Content: []byte(content)}
}

func TestAnArchiveIsTheSameEachTime(t *testing.T) {
	one, _ := bundleOf(t, 1<<20, text("journal/kubelet.log", "a\n"), text("status.json", "{}"))
	two, index := bundleOf(t, 1<<20, text("journal/kubelet.log", "a\n"), text("status.json", "{}"))
	if !bytes.Equal(one, two) {
		t.Error("the same parts make different archives")
	}
	if index.Redactions["jwt"] != 2 {
		t.Errorf("the index counts %v", index.Redactions)
	}
	if _, counted := index.Redactions["bearer"]; !counted {
		t.Error("the index does not list a rule without redactions")
	}
	z, err := gzip.NewReader(bytes.NewReader(one))
	must(t, err)
	files := tar.NewReader(z)
	for _, want := range []string{"journal/kubelet.log", "status.json", "index.json"} {
		header, err := files.Next()
		must(t, err)
		if header.Name != "refit-support-bundle-n1-20261119T080000Z/"+want || header.Mode != 0o600 || header.Uid != 0 || !header.ModTime.Equal(newIndex().Time) {
			t.Errorf("the header is %+v, want %s", header, want)
		}
	}
}

func TestPartsBeyondTheLimitAreListed(t *testing.T) {
	_, index := bundleOf(t, 10, text("a", "12345678"), text("b", "12345678"), text("c", "1"))
	for i, want := range []string{"", supportbundle.ReasonSizeLimit, ""} {
		p := index.Parts[i]
		if got := p.Error; (got == nil) != (want == "") || (got != nil && (got.Reason != want || p.Path != "" || !p.Truncated || p.Bytes != 0)) {
			t.Errorf("part %d is %+v", i, p)
		}
	}
}

func TestTheEndOfATextIsKept(t *testing.T) {
	w := NewText(redact.New(), 100)
	for range 1000 {
		_, err := w.Write([]byte("a line that is dropped\n"))
		must(t, err)
	}
	_, err := w.Write([]byte("password=hunter2 at the end"))
	must(t, err)
	p := w.Part(cliv1alpha1.BundlePart{Path: "x"})
	if got := string(p.Content); !strings.HasPrefix(got, "a line") || !strings.HasSuffix(got, "password=[redacted:named] at the end") || len(got) > 100 || !p.Truncated {
		t.Errorf("the text is %q, %+v", got, p)
	}
	if p.Redactions["named"] != 1 {
		t.Errorf("the counts are %v", p.Redactions)
	}
}

func TestAStreamIsTheArchiveOfAHost(t *testing.T) {
	raw, _ := bundleOf(t, 1<<20, text("journal/kubelet.log", strings.Repeat("entry\n", 5000)), text("status.json", "{}"))
	var out bytes.Buffer
	s := NewStreamWriter(&out)
	for _, b := range bytes.SplitAfter(raw, []byte("e")) {
		_, err := s.Write(b)
		must(t, err)
	}
	must(t, s.Close())
	for line := range strings.Lines(out.String()) {
		if len(line) > 16<<10 {
			t.Errorf("a line has %d bytes: the container runtime splits it", len(line))
		}
	}
	got, err := ReadStream(&out, 1<<20)
	must(t, err)
	host, err := ReadHost(bytes.NewReader(got), 1<<20)
	must(t, err)
	if len(host.Files) != 2 || host.Index == nil || len(host.Index.Parts) != 2 || len(host.Files["journal/kubelet.log"]) != 30000 {
		t.Errorf("the host is %v", host.Index)
	}
}

func TestDamagedStreams(t *testing.T) {
	raw, _ := bundleOf(t, 1<<20, text("journal/kubelet.log", strings.Repeat("entry\n", 50000)))
	var out bytes.Buffer
	s := NewStreamWriter(&out)
	_, err := s.Write(raw)
	must(t, err)
	must(t, s.Close())
	whole := out.String()
	before, end, _ := strings.Cut(whole, streamEnd)
	for situation, tc := range map[string]struct {
		text string
		want error
	}{
		"another program":          {"unknown command \"host-bundle\"\n", ErrNoStream},
		"nothing":                  {"", ErrNoStream},
		"without its end":          {before, ErrIncomplete},
		"without a line":           {streamBegin + "\n" + streamEnd + end, ErrIncomplete},
		"with a line of something": {strings.Replace(whole, "\n", "\nrotated!\n", 1), ErrIncomplete},
	} {
		if _, err := ReadStream(strings.NewReader(tc.text), 1<<20); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", situation, err, tc.want)
		}
	}
	if got, err := ReadStream(strings.NewReader(whole), 10); !errors.Is(err, ErrIncomplete) || len(got) > 10 {
		t.Errorf("a stream above the limit: %d bytes, %v", len(got), err)
	}
}

func TestAHostCannotNameItsFilesFreely(t *testing.T) {
	for _, name := range []string{"x/../../etc/passwd", "x/index.html", "/etc/passwd", "x/journal/../../a", "x/logs/a", "status.json"} {
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		files := tar.NewWriter(z)
		must(t, files.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o600}))
		must(t, files.Close())
		must(t, z.Close())
		if host, err := ReadHost(&out, 1<<20); err == nil || len(host.Files) > 0 {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestAHostCannotFillTheMemory(t *testing.T) {
	raw, _ := bundleOf(t, 64<<20, text("journal/kubelet.log", strings.Repeat("0", 32<<20)))
	host, err := ReadHost(bytes.NewReader(raw), 1<<20)
	if err == nil || len(host.Files["journal/kubelet.log"]) > 4<<20 {
		t.Errorf("%d bytes are read, %v", len(host.Files["journal/kubelet.log"]), err)
	}
}

// block returns a header of a tar archive, and content padded to blocks.
func block(kind byte, name, content string) string {
	header := make([]byte, 512)
	copy(header, name)
	copy(header[100:], "0000600\x000000000\x000000000\x00")
	copy(header[124:], fmt.Sprintf("%011o\x00%011o\x00        ", len(content), 0))
	header[156] = kind
	copy(header[257:], "ustar\x0000")
	sum := 0
	for _, b := range header {
		sum += int(b)
	}
	copy(header[148:], fmt.Sprintf("%06o\x00 ", sum))
	return string(header) + content + strings.Repeat("\x00", (512-len(content)%512)%512)
}

// The holes of a sparse file have no bytes in the archive, but a reader returns them.
func TestAHostCannotFillTheMemoryWithHoles(t *testing.T) {
	const size = "67108864"
	var record strings.Builder
	for _, field := range []string{"GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=x/status.json", "GNU.sparse.realsize=" + size} {
		fmt.Fprintf(&record, "%d %s\n", len(field)+len("00 \n"), field)
	}
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, err := io.WriteString(z, block('x', "x", record.String())+block('0', "x/status.json", fmt.Sprintf("%-512s", "1\n"+size+"\n0\n"))+strings.Repeat("\x00", 1024))
	must(t, err)
	must(t, z.Close())
	host, err := ReadHost(&out, 1<<20)
	if n := len(host.Files["status.json"]); err == nil || n > 2<<20 || n == 0 {
		t.Errorf("%d bytes are read, %v", n, err)
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.tar.gz")
	write := func(to io.Writer) error { _, err := to.Write([]byte("x")); return err }
	failed := errors.New("failed")
	if err := File(path, func(io.Writer) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("File() = %v", err)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 0 {
		t.Errorf("%v remains after an error", left)
	}
	must(t, File(path, write))
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode() != 0o600 {
		t.Errorf("the mode is %v", info.Mode())
	}
	if err := File(path, write); err == nil || !strings.Contains(err.Error(), "not replaced") {
		t.Errorf("a second file of this name: %v", err)
	}
}
