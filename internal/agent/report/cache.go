package report

import (
	"os"
	"sync"
	"time"
)

// Cache keeps answers as long as what they were made of does not change. An agent asks for its facts again and again, and starting a program of 80 MB to
// learn its version each time would be most of what it costs.
type Cache struct {
	mu       sync.Mutex
	versions map[string]cached
	drift    cachedDrift
}

type cached struct {
	path    string
	size    int64
	changed time.Time
	answer  string
}

type cachedDrift struct {
	key         string
	differences []string
}

// NewCache makes an empty one.
func NewCache() *Cache { return &Cache{versions: map[string]cached{}} }

// version is what a program said, or says if its file is another one now.
func (c *Cache) version(path string, ask func() (string, error)) (string, error) {
	info, err := os.Stat(path)
	if c == nil || err != nil {
		return ask()
	}
	target, _ := os.Readlink(path) // of a running program: which file it is
	now := cached{path: target, size: info.Size(), changed: info.ModTime()}
	c.mu.Lock()
	has, known := c.versions[path]
	c.mu.Unlock()
	if now.answer = has.answer; known && now == has {
		return has.answer, nil
	}
	if now.answer, err = ask(); err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.versions[path] = now
	return now.answer, nil
}

func (c *Cache) knownDrift(key string) ([]string, bool) {
	if c == nil {
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.drift.differences, c.drift.key == key && key != ""
}

func (c *Cache) keepDrift(key string, differences []string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drift = cachedDrift{key: key, differences: differences}
}
