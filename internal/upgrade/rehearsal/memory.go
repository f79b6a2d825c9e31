package rehearsal

import "fmt"

const (
	mebibyte = uint64(1 << 20)
	// etcdBase and apiServerBase are the memory of an idle process; perKey is etcd's index entry.
	etcdBase      = 192 * mebibyte
	apiServerBase = 512 * mebibyte
	perKey        = 1 << 10
	// cacheFactor is the ratio of decoded objects in the watch cache to their size in etcd, with
	// the garbage of decoding them.
	cacheFactor = 6
	// reserved stays free for the live components.
	reserved = 512 * mebibyte
)

// Data is the size of the database.
type Data struct {
	Bytes uint64
	Keys  uint64
}

// Memory is the decision about memory before a rehearsal. Each value bounds one process.
type Memory struct {
	Etcd       uint64
	APIServer  uint64
	WatchCache bool
}

// Bound decides how much memory a rehearsal may use of what is available on the host: with the
// watch cache, without it, or an error if the host has too little. The pages of etcd's database are
// a cache that the kernel reclaims, so they do not count.
func Bound(d Data, available uint64) (Memory, error) {
	m := Memory{Etcd: EtcdMemory(d), APIServer: apiServerBase + cacheFactor*d.Bytes, WatchCache: true}
	usable := available - min(available, reserved)
	if m.Etcd+m.APIServer <= usable {
		return m, nil
	}
	// Without the cache, the API server holds only the pages of the lists in progress.
	m.APIServer, m.WatchCache = apiServerBase+d.Bytes/10, false
	if m.Etcd+m.APIServer <= usable {
		return m, nil
	}
	return Memory{}, fmt.Errorf("a rehearsal on %s of data needs %s of memory, and the host has %s available, of which %s stay reserved",
		mebibytes(d.Bytes), mebibytes(m.Etcd+m.APIServer), mebibytes(available), mebibytes(reserved))
}

func mebibytes(n uint64) string { return fmt.Sprintf("%d MiB", (n+mebibyte-1)/mebibyte) }

// EtcdMemory bounds etcd alone.
func EtcdMemory(d Data) uint64 { return etcdBase + d.Keys*perKey }
