package report

import (
	"os"
	"sync"
	"time"
)

// Cache keeps results as long as their files do not change: running a binary of 80 MB for its
// version would be most of the cost of a report.
type Cache struct {
	mu       sync.Mutex
	versions map[string]cached
	drift    cachedDrift
	stated   cachedEndpoint
}

type cached struct {
	path    string
	size    int64
	changed time.Time
	result  string
}

type cachedDrift struct {
	key string
	differences
}

// cachedEndpoint is the endpoint that the ClusterConfiguration states, and when it was read.
type cachedEndpoint struct {
	address string
	read    time.Time
}

// differences are the differences between the manifests on a host and those of kubeadm.
type differences struct {
	all      []string
	security []string // settings among them
}

// NewCache returns an empty cache.
func NewCache() *Cache { return &Cache{versions: map[string]cached{}} }

// version returns the cached version of a binary, or calls query if its file has changed.
func (c *Cache) version(path string, query func() (string, error)) (string, error) {
	info, err := os.Stat(path)
	if c == nil || err != nil {
		return query()
	}
	target, _ := os.Readlink(path) // the file of a running process
	now := cached{path: target, size: info.Size(), changed: info.ModTime()}
	c.mu.Lock()
	has, known := c.versions[path]
	c.mu.Unlock()
	if now.result = has.result; known && now == has {
		return has.result, nil
	}
	if now.result, err = query(); err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.versions[path] = now
	return now.result, nil
}

func (c *Cache) knownDrift(key string) (differences, bool) {
	if c == nil {
		return differences{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.drift.differences, c.drift.key == key && key != ""
}

func (c *Cache) keepDrift(key string, found differences) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drift = cachedDrift{key: key, differences: found}
}

// endpoint returns the endpoint that the ClusterConfiguration states, empty if it states none or is
// unknown. It queries a recent one once. Without an answer it returns the last one: the API may be
// unreachable because of the endpoint.
func (c *Cache) endpoint(now time.Time, query func() (string, error)) string {
	var last cachedEndpoint
	if c != nil {
		c.mu.Lock()
		last = c.stated
		c.mu.Unlock()
	}
	if !last.read.IsZero() && now.Sub(last.read) < endpointConfigAge {
		return last.address
	}
	address, err := query()
	if err != nil {
		return last.address
	}
	if c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.stated = cachedEndpoint{address, now}
	}
	return address
}
