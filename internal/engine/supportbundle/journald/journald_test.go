package journald

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"
)

// files were written by systemd-journal-remote 252 from 400 entries, one per second, of four units
// in turn. The 200th message has three lines; the 201st is long enough to be compressed.
var files = []string{"compact-zstd.journal.gz", "zstd.journal.gz", "compact.journal.gz"}

var start = time.UnixMicro(1763539200 * 1e6).UTC()

func content(tb testing.TB, name string) []byte {
	tb.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

func read(t *testing.T, raw []byte, filter Filter) ([]Entry, Problems, error) {
	t.Helper()
	var out []Entry
	problems, err := Read(t.Context(), bytes.NewReader(raw), int64(len(raw)), filter, func(e Entry) error {
		out = append(out, e)
		return nil
	})
	return out, problems, err
}

func TestEntriesOfUnits(t *testing.T) {
	for _, name := range files {
		t.Run(name, func(t *testing.T) {
			found, problems, err := read(t, content(t, name), Filter{Units: []string{"kubelet.service", "containerd.service"}})
			if err != nil || problems != (Problems{}) || len(found) != 200 {
				t.Fatalf("%d entries, %+v, %v", len(found), problems, err)
			}
			want := Entry{Time: start.Add(4 * time.Second), Unit: "kubelet.service", Identifier: "kubelet", PID: "100", Message: "message 4 of kubelet.service"}
			if found[2] != want {
				t.Errorf("the third entry is %+v", found[2])
			}
			if got := found[100].Message; got != "line one\nline two\n\x1b[31mred" {
				t.Errorf("the message with lines is %q", got)
			}
			if got := found[101].Message; got != "big "+strings.Repeat("abcdefghij", 300) {
				t.Errorf("the compressed message is %q", got)
			}
		})
	}
}

func TestEntriesOfATime(t *testing.T) {
	raw := content(t, files[0])
	found, _, err := read(t, raw, Filter{Since: start.Add(10 * time.Second), Until: start.Add(20 * time.Second), Units: []string{"kubelet.service"}})
	if err != nil || len(found) != 3 || found[0].Message != "message 12 of kubelet.service" {
		t.Errorf("%v, %v", found, err)
	}
	head, tail, err := Span(bytes.NewReader(raw), int64(len(raw)))
	if err != nil || !head.Equal(start) || !tail.Equal(start.Add(399*time.Second)) {
		t.Errorf("the file is from %s to %s, %v", head, tail, err)
	}
}

func TestAReportEndsTheRead(t *testing.T) {
	raw := content(t, files[0])
	full := errors.New("full")
	_, err := Read(t.Context(), bytes.NewReader(raw), int64(len(raw)), Filter{Units: []string{"kubelet.service"}}, func(Entry) error { return full })
	if !errors.Is(err, full) {
		t.Errorf("Read() = %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read(ctx, bytes.NewReader(raw), int64(len(raw)), Filter{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Read() = %v", err)
	}
}

func TestFilesThatAreNoJournals(t *testing.T) {
	raw := content(t, files[0])
	later := bytes.Clone(raw)
	later[12] |= 1 << 5
	for situation, raw := range map[string][]byte{"empty": nil, "text": []byte(strings.Repeat("x", 4096)), "a short header": raw[:100], "a later format": later} {
		if _, _, err := read(t, raw, Filter{}); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", situation, err)
		}
	}
}

// TestDamagedFiles cuts and changes files at random. Reading them must end, without a panic, and
// with no more entries than a file has.
func TestDamagedFiles(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, name := range files {
		raw := bytes.TrimRight(content(t, name), "\x00")
		for range 150 {
			damaged := bytes.Clone(raw)
			if random.IntN(3) == 0 {
				damaged = damaged[:random.IntN(len(damaged))]
			}
			for range 1 + random.IntN(200) {
				if len(damaged) > 0 {
					damaged[random.IntN(len(damaged))] = byte(random.Uint32())
				}
			}
			found, _, _ := read(t, damaged, Filter{Units: []string{"kubelet.service"}})
			if len(found) > 400 {
				t.Fatalf("%d entries", len(found))
			}
		}
	}
}

func TestACutFileHasItsFirstEntries(t *testing.T) {
	raw := bytes.TrimRight(content(t, files[1]), "\x00")
	found, problems, err := read(t, raw[:len(raw)-30_000], Filter{Units: []string{"kubelet.service"}})
	if err != nil || len(found) < 20 || problems.Damaged == 0 || problems.First == nil {
		t.Errorf("%d entries, %+v, %v", len(found), problems, err)
	}
}

func TestAChainThatLeadsBackEnds(t *testing.T) {
	raw := content(t, files[0])
	array := number(raw[176:184])
	copy(raw[array+16:array+24], raw[176:184]) // the next one is the same
	found, problems, err := read(t, raw, Filter{Units: []string{"kubelet.service"}})
	if err != nil || problems.Damaged != 1 || len(found) == 0 || len(found) > 100 {
		t.Errorf("%d entries, %+v, %v", len(found), problems, err)
	}
}

func TestLZ4(t *testing.T) {
	// "abcabcabcabc-" followed by 20 literals with an extended length.
	block := append([]byte{0x35, 'a', 'b', 'c', 3, 0, 0xf0, 6, '-'}, strings.Repeat("y", 20)...)
	out, err := lz4(block, 1000)
	if want := "abcabcabcabc-" + strings.Repeat("y", 20); err != nil || string(out) != want {
		t.Errorf("lz4() = %q, %v, want %q", out, err, want)
	}
	for i := range block {
		_, _ = lz4(block[:i], 1000)
		_, _ = lz4(block, uint64(i))
	}
	if _, err := lz4([]byte{0x10, 'a', 9, 0, 0}, 100); !errors.Is(err, errDamagedLZ4) {
		t.Errorf("a distance before the begin: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range files {
		f.Add(bytes.TrimRight(content(f, name), "\x00"))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, _, _ = read(t, raw, Filter{Units: []string{"kubelet.service"}})
	})
}
