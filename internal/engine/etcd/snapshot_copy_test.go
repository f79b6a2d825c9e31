package etcd

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/iotest"
)

// stream returns a database of a size, and its digest.
func stream(size int) []byte {
	database := bytes.Repeat([]byte("page"), size/4)
	sum := sha256.Sum256(database)
	return append(database, sum[:]...)
}

// copied copies a snapshot, and returns what was written.
func copied(from io.Reader) ([]byte, int64, error) {
	var to bytes.Buffer
	size, err := CopySnapshot(&to, from, func() string { return fmt.Sprintf("sha256:%x", sha256.Sum256(to.Bytes())) })
	return to.Bytes(), size, err
}

func TestSnapshotIsCopiedWithItsDigest(t *testing.T) {
	for _, size := range []int{512, copySize - 512, copySize, copySize + 512, 3*copySize + 1024} {
		want := stream(size)
		for situation, from := range map[string]io.Reader{"whole": bytes.NewReader(want), "halves": iotest.HalfReader(bytes.NewReader(want))} {
			got, n, err := copied(from)
			if err != nil || n != int64(size) || !bytes.Equal(got, want) {
				t.Errorf("%d bytes, %s: %d bytes, database of %d, %v", size, situation, len(got), n, err)
			}
		}
	}
}

func TestChangedSnapshotIsNotCopiedAsAWhole(t *testing.T) {
	good := stream(copySize + 1024)
	for situation, change := range map[string]func([]byte) []byte{
		"a bit":               func(raw []byte) []byte { raw[len(raw)/2] ^= 1; return raw },
		"a bit of the digest": func(raw []byte) []byte { raw[len(raw)-1] ^= 1; return raw },
		"truncated":           func(raw []byte) []byte { return raw[:len(raw)-512] },
		"without its digest":  func(raw []byte) []byte { return raw[:len(raw)-sha256.Size] },
		"only a digest":       func(raw []byte) []byte { return raw[len(raw)-sha256.Size:] },
		"empty":               func([]byte) []byte { return nil },
	} {
		changed := change(bytes.Clone(good))
		got, _, err := copied(bytes.NewReader(changed))
		if !errors.Is(err, ErrSnapshotInvalid) || len(got) > 0 && len(got) >= len(changed) {
			t.Errorf("%s: %d of %d bytes were written, %v", situation, len(got), len(changed), err)
		}
	}
}

func TestBrokenStreamIsNotAnInvalidSnapshot(t *testing.T) {
	broken := errors.New("broken")
	_, _, err := copied(io.MultiReader(bytes.NewReader(stream(1024)), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) || errors.Is(err, ErrSnapshotInvalid) {
		t.Errorf("got %v", err)
	}
}
