package etcd

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"runtime/debug"

	"go.etcd.io/bbolt"
)

// SnapshotContent is what a snapshot contains.
type SnapshotContent struct {
	// Revision is the newest revision, and Keys the number of entries of the key-value store, old
	// revisions included.
	Revision, Keys int64
	// Hash is that of `etcdutl snapshot status`.
	Hash uint32
	// EntriesHash is that of the key-value store alone, which a restore keeps as it is.
	EntriesHash uint32
	// Size is the size of the database in bytes.
	Size int64
}

// ReadSnapshot verifies the digest at the end of a snapshot in a file, and reads its content.
func ReadSnapshot(ctx context.Context, path string) (SnapshotContent, error) {
	size, err := verifyDigest(ctx, path)
	if err != nil {
		return SnapshotContent{}, fmt.Errorf("cannot verify the snapshot of etcd: %w", err)
	}
	content, err := ReadDatabase(ctx, path)
	content.Size = size
	return content, err
}

// copySize is how much CopySnapshot writes at once.
const copySize = 256 << 10

// CopySnapshot copies a snapshot, and returns the size of the database in it. It writes the digest
// at its end only if that is the digest of the database, else it returns ErrSnapshotInvalid. The
// caller hashes what it writes anyway: digest returns sha256:HEX of all bytes so far.
func CopySnapshot(to io.Writer, from io.Reader, digest func() string) (size int64, err error) {
	buffer, held := make([]byte, copySize+sha256.Size), 0
	for {
		n, err := io.ReadFull(from, buffer[held:])
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return 0, err
		}
		full := max(held+n-sha256.Size, 0) // the rest may be the digest
		if _, err := to.Write(buffer[:full]); err != nil {
			return 0, err
		}
		size += int64(full)
		held = copy(buffer, buffer[full:held+n])
		if !last {
			continue
		}
		if err := checkSize(size + int64(held)); err != nil {
			return 0, err
		}
		if digest() != "sha256:"+hex.EncodeToString(buffer[:held]) {
			return 0, errDigest
		}
		_, err = to.Write(buffer[:held])
		return size, err
	}
}

// checkSize requires the size of a database and its digest. The pages of a database are multiples
// of 512 bytes.
func checkSize(all int64) error {
	if size := all - sha256.Size; size <= 0 || size%512 != 0 {
		return fmt.Errorf("%w: it has %d bytes, which is not a database and its digest", ErrSnapshotInvalid, all)
	}
	return nil
}

// ErrSnapshotInvalid is the error of a snapshot that is not what etcd has sent.
var ErrSnapshotInvalid = errors.New("the snapshot of etcd is not valid")

var errDigest = fmt.Errorf("%w: its digest is wrong", ErrSnapshotInvalid)

// ReadDatabase reads the content of the database of an etcd that does not run. bbolt panics on
// damaged pages, and a mapped file that cannot be read is a fault of memory.
func ReadDatabase(ctx context.Context, path string) (content SnapshotContent, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			content, err = SnapshotContent{}, fmt.Errorf("cannot read the snapshot of etcd: it is damaged: %v", r)
		}
	}()
	db, err := bbolt.Open(path, 0o400, &bbolt.Options{ReadOnly: true})
	if err != nil {
		return SnapshotContent{}, fmt.Errorf("cannot open the snapshot of etcd: %w", err)
	}
	defer db.Close()
	if err := db.View(func(tx *bbolt.Tx) error { return content.read(ctx, tx) }); err != nil {
		return SnapshotContent{}, fmt.Errorf("cannot read the snapshot of etcd: %w", err)
	}
	return content, nil
}

// verifyDigest returns the size of the database before its digest.
func verifyDigest(ctx context.Context, path string) (int64, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	// A database of 8 GB is read for minutes: the end of the context ends the read.
	defer context.AfterFunc(ctx, func() { _ = file.Close() })()
	info, err := file.Stat()
	if err != nil {
		return 0, errors.Join(context.Cause(ctx), err)
	}
	if err := checkSize(info.Size()); err != nil {
		return 0, err
	}
	size := info.Size() - sha256.Size
	sum := sha256.New()
	if _, err := io.CopyN(sum, file, size); err != nil {
		return 0, errors.Join(context.Cause(ctx), err)
	}
	want := make([]byte, sha256.Size)
	if _, err := io.ReadFull(file, want); err != nil {
		return 0, errors.Join(context.Cause(ctx), err)
	}
	if !bytes.Equal(sum.Sum(nil), want) {
		return 0, errDigest
	}
	return size, nil
}

// The key-value store of etcd: a key is a revision.
var keyBucket = []byte("key")

// revisionSize is the size of a main revision, an underscore and a sub revision.
const revisionSize = 8 + 1 + 8

// read walks over all buckets.
func (c *SnapshotContent) read(ctx context.Context, tx *bbolt.Tx) error {
	table := crc32.MakeTable(crc32.Castagnoli)
	sum, entries := crc32.New(table), crc32.New(table)
	err := tx.ForEach(func(name []byte, bucket *bbolt.Bucket) error {
		_, _ = sum.Write(name) // a hash never fails
		isKeys := bytes.Equal(name, keyBucket)
		return bucket.ForEach(func(key, value []byte) error {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			_, _ = sum.Write(key)
			_, _ = sum.Write(value)
			if !isKeys {
				return nil
			}
			_, _ = entries.Write(key)
			_, _ = entries.Write(value)
			if len(key) < revisionSize {
				return fmt.Errorf("an entry has a key of %d bytes, which is no revision", len(key))
			}
			c.Keys++
			c.Revision = max(c.Revision, revisionOf(key))
			return nil
		})
	})
	c.Hash, c.EntriesHash = sum.Sum32(), entries.Sum32()
	return err
}

// revisionOf returns the main revision in a key.
func revisionOf(key []byte) int64 { return int64(binary.BigEndian.Uint64(key)) }
