//go:build crashpoints

package agent

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"sigs.k8s.io/yaml"
)

// crashFile configures the crash points. Only test builds contain this code.
const crashFile = "/etc/refit/crashpoints.yaml"

type crashConfig struct {
	// Mode is log (log the points), each (die at every point, once each), only (die at the matching
	// points, once each) or stop (wait at a matching point until the file Stopped is removed).
	Mode    string   `json:"mode"`
	Match   []string `json:"match"`
	Log     string   `json:"log"`
	Stopped string   `json:"stopped"`
}

var crashing sync.Mutex

// point is called before and after every journaled effect.
func point(name string) {
	crashing.Lock()
	defer crashing.Unlock()
	text, err := os.ReadFile(crashFile)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	c := crashConfig{Log: "/var/lib/refit/crashpoints.log", Stopped: "/var/lib/refit/crashpoints.stopped"}
	if err == nil {
		err = yaml.UnmarshalStrict(text, &c)
	}
	if err != nil {
		panic(err)
	}
	if seen, _ := os.ReadFile(c.Log); strings.Contains("\n"+string(seen), "\n"+name+"\n") {
		return
	}
	switch c.Mode {
	case "log":
		logPoint(c.Log, name)
	case "each":
		logPoint(c.Log, name)
		die()
	case "only":
		if slices.Contains(c.Match, name) {
			logPoint(c.Log, name)
			die()
		}
	case "stop":
		if slices.Contains(c.Match, name) {
			logPoint(c.Log, name)
			waitUntilRemoved(c.Stopped)
		}
	}
}

func logPoint(path, name string) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(name + "\n")
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		panic(err)
	}
	_ = f.Close()
}

func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func waitUntilRemoved(path string) {
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		panic(err)
	}
	for {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}
