package backup

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"go.etcd.io/bbolt"
)

// BenchmarkBackup takes backups of a database with values of 8 KiB into a path store, without etcd
// itself: from its stream to the manifest.
func BenchmarkBackup(b *testing.B) {
	for name, value := range map[string]func(*rand.ChaCha8) []byte{"objects": object, "random": func(r *rand.ChaCha8) []byte { return random(r, 8<<10) }} {
		b.Run(name, func(b *testing.B) {
			host := newBed(b)
			host.snapshot = largeSnapshot(b, 128<<20, value)
			b.SetBytes(int64(len(host.snapshot)))
			before, attempt := cpuTime(), int64(0)
			for b.Loop() {
				attempt++
				if got := host.take(b, attempt); got.Error != nil {
					b.Fatalf("%+v", got.Error)
				}
			}
			b.ReportMetric((cpuTime()-before)/float64(b.N)/float64(len(host.snapshot))*(1<<30), "cpu-s/GiB")
		})
	}
}

// cpuTime is the CPU time of this process, in seconds.
func cpuTime() float64 {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // never fails
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
}

// largeSnapshot is a snapshot with values of at least this many bytes.
func largeSnapshot(b *testing.B, size int, value func(*rand.ChaCha8) []byte) []byte {
	b.Helper()
	path := filepath.Join(b.TempDir(), "db")
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	from := rand.NewChaCha8([32]byte{})
	err = db.Update(func(tx *bbolt.Tx) error {
		bucket, err := tx.CreateBucket([]byte("key"))
		for revision := uint64(1); err == nil && size > 0; revision++ {
			text := value(from)
			size -= len(text)
			err = bucket.Put(append(binary.BigEndian.AppendUint64(nil, revision), append([]byte("_"), make([]byte, 8)...)...), text)
		}
		return err
	})
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		b.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	return withDigest(content)
}

// random cannot be compressed.
func random(from *rand.ChaCha8, size int) []byte {
	out := make([]byte, size)
	_, _ = from.Read(out) // never fails
	return out
}

// object compresses like the objects of a cluster.
func object(from *rand.ChaCha8) []byte {
	out := fmt.Appendf(nil, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-%x","uid":"%x"},"spec":{`, random(from, 5), random(from, 16))
	for i := 0; len(out) < 8<<10; i++ {
		out = fmt.Appendf(out, `"container-%d":{"image":"registry.example.com/web@sha256:%x","terminationMessagePath":"/dev/termination-log",`+
			`"imagePullPolicy":"IfNotPresent","mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"},`, i, random(from, 32))
	}
	return out
}
