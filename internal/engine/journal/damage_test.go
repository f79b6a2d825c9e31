package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/durable/durabletest"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// openText opens a text as a journal.
func openText(t *testing.T, path string, text []byte) (*Journal, error) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return Open(path, machine)
}

// memory returns a directory for tests that write a lot.
func memory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "journal") //nolint:usetesting // t.TempDir is on a disk
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// withoutSync is for tests that open thousands of journals.
func withoutSync(t *testing.T) {
	t.Helper()
	durabletest.FailFiles(t, nil)
}

func TestJournalTruncatedAtAnyByte(t *testing.T) {
	withoutSync(t)
	records, text := sample(t)
	lines := bytes.SplitAfter(text, []byte("\n"))
	first := len(lines[0]) + len(lines[1]) // written before the file had its name
	path := filepath.Join(memory(t), "journal")
	for size := range text {
		j, err := openText(t, path, text[:size])
		if size < first {
			wantFailure(t, err, refitv1alpha1.FailureHostBroken, "JournalDamaged")
			continue
		}
		if err != nil {
			t.Fatalf("truncated at %d: %v", size, err)
		}
		complete := bytes.Count(text[:size], []byte("\n")) - 1
		if !same(t, j.Records(), records[:complete]) {
			t.Fatalf("truncated at %d: %d records, want %d", size, len(j.Records()), complete)
		}
		// It continues as if nothing had happened.
		appendAll(t, j, started("after"))
		again := reopen(t, j)
		if got := again.Records(); len(got) != complete+1 || got[complete].Step != "after" {
			t.Fatalf("truncated at %d, then appended: %+v", size, got)
		}
		_ = again.Close()
	}
}

func TestAnyByteDamaged(t *testing.T) {
	withoutSync(t)
	records, text := sample(t)
	last := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
	path := filepath.Join(memory(t), "journal")
	for at := range text {
		for _, to := range []byte{text[at] ^ 0x01, text[at] ^ 0x20, text[at] ^ 0x80, 0, ' ', '\n'} {
			if to == text[at] {
				continue
			}
			bad := bytes.Clone(text)
			bad[at] = to
			j, err := openText(t, path, bad)
			if at < last {
				// Complete records follow: the journal must not guess, nor change the file.
				wantFailure(t, err, refitv1alpha1.FailureHostBroken, "JournalDamaged")
				if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, bad) {
					t.Fatalf("byte %d: the damaged journal was changed (%v)", at, err)
				}
				continue
			}
			if err == nil {
				if !same(t, j.Records(), records[:len(records)-1]) {
					t.Fatalf("byte %d as %q: %+v", at, to, j.Records())
				}
				_ = j.Close()
			}
		}
	}
}

func TestLastLineAfterAPowerFailure(t *testing.T) {
	records, text := sample(t)
	last := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
	holed := bytes.Clone(text)
	copy(holed[last+20:], make([]byte, 10))
	for name, tail := range map[string][]byte{
		"a hole in it, and its end":         holed[last:],
		"zeros in its place":                make([]byte, 200),
		"zeros behind its start":            append(bytes.Clone(text[last:last+30]), make([]byte, 4096)...),
		"everything but the newline":        text[last : len(text)-1],
		"only its newline":                  []byte("\n"),
		"zeros behind the line":             append(bytes.Clone(holed[last:]), 0, 0, 0),
		"a text that looks like a checksum": []byte("00000000 {"),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "journal")
			j, err := openText(t, path, append(bytes.Clone(text[:last]), tail...))
			if err != nil {
				t.Fatal(err)
			}
			if !same(t, j.Records(), records[:len(records)-1]) {
				t.Errorf("%+v", j.Records())
			}
			if info, err := os.Stat(path); err != nil || info.Size() != int64(last) {
				t.Errorf("the incomplete end is still there: %d bytes, want %d (%v)", info.Size(), last, err)
			}
			_ = j.Close()
		})
	}
}

func TestDamageThatLooksIncomplete(t *testing.T) {
	_, text := sample(t)
	last := bytes.LastIndexByte(text[:len(text)-1], '\n')
	joined := bytes.Clone(text)
	joined[last] = 0
	for name, bad := range map[string][]byte{
		"a damaged newline joins two lines":    joined,
		"two damaged lines":                    append(bytes.Clone(text), "bad\nbad\n"...),
		"more than one record can have":        append(bytes.Clone(text), make([]byte, MaxRecord+100)...),
		"a complete line that is not a record": append(bytes.Clone(text), sum([]byte(`{"at":5}`))...),
		"only a header":                        text[:bytes.IndexByte(text, '\n')+1],
		"nothing":                              {},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := openText(t, filepath.Join(t.TempDir(), "journal"), bad)
			wantFailure(t, err, refitv1alpha1.FailureHostBroken, "JournalDamaged")
		})
	}
}

func FuzzTextBehindTheRecords(f *testing.F) {
	header, err := headerLine(machine)
	if err != nil {
		f.Fatal(err)
	}
	first, want, err := recordLine(opened())
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("00000000 {}\n"))
	f.Add(first)
	f.Add(append(bytes.Clone(first), 0, '\n', 0))
	f.Fuzz(func(t *testing.T, tail []byte) {
		text := append(append(bytes.Clone(header), first...), tail...)
		records, good, err := parse("journal", machine, text)
		if err != nil {
			if _, ok := errors.AsType[*node.Failure](err); !ok {
				t.Fatalf("not a node.Failure: %v", err)
			}
			return
		}
		if !same(t, records[:1], []node.Record{want}) || good < int64(len(header)+len(first)) || good > int64(len(text)) {
			t.Fatalf("%d valid bytes, %+v", good, records)
		}
		again, size, err := parse("journal", machine, text[:good])
		if err != nil || size != good || len(again) != len(records) {
			t.Fatalf("the valid bytes are invalid: %v", err)
		}
	})
}
