package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/refit-dev/refit/internal/engine/supportbundle/archive"
	"github.com/refit-dev/refit/internal/upgrade/redact"
	"github.com/refit-dev/refit/internal/upgrade/supportbundle"
)

// Reader reads a host.
type Reader struct {
	Root string // empty, or where the root directory of the host is mounted
	// StateDir is the directory of the agent; empty in a Pod, which does not mount it.
	StateDir string
	// Status returns the status of the agent as JSON; nil in a Pod.
	Status func(context.Context) ([]byte, error)
}

// journalDirs are the directories of journald: on disk and in memory.
var journalDirs = []string{"/var/log/journal", "/run/log/journal"}

// DefaultStateDir is the directory of the agent, unless its settings have another one.
const DefaultStateDir = "/var/lib/refit"

// Available is true if this machine has a journal or an agent: it may be a host of the cluster.
func (r *Reader) Available() bool {
	found := func(path string) bool {
		info, err := os.Stat(r.path(path))
		return err == nil && info.IsDir()
	}
	return r.StateDir != "" && found(r.StateDir)
}

func (r *Reader) path(path string) string { return filepath.Join(r.Root, path) }

// Options is what is read.
type Options struct {
	supportbundle.Window

	Limit  int64
	Redact *redact.Redactor
	Report func(activity string) // what is being read
}

// Read returns the parts of the host. An unreadable file is a part with an error.
func (r *Reader) Read(ctx context.Context, o Options) []archive.Part {
	var out []archive.Part
	limit := o.Limit
	if r.Status != nil {
		o.Report("status of the agent")
		out = append(out, r.status(ctx, o))
	}
	if r.StateDir != "" {
		o.Report("journals of upgrades")
		files := r.agentFiles(o)
		out = append(out, files...)
		limit -= sizeOf(files)
	}
	return append(out, r.journals(ctx, o, limit)...)
}

func sizeOf(parts []archive.Part) (size int64) {
	for i := range parts {
		size += int64(len(parts[i].Content))
	}
	return size
}

func (r *Reader) status(ctx context.Context, o Options) archive.Part {
	text := archive.NewText(o.Redact, o.Limit/8)
	status, err := r.Status(ctx)
	_, _ = text.Write(status)
	p := text.Part(part("status.json", "status of refit-agent"))
	if err != nil {
		p.Error = &supportbundle.Fail(supportbundle.ReasonReadFailed, "cannot get the status of the agent: %v", err).BundleError
	}
	return p
}

// agentFiles returns the state of the agent and the journals of its upgrades. The directories of
// upgrades have keys, too: nothing else is read there.
func (r *Reader) agentFiles(o Options) (out []archive.Part) {
	dir := r.path(r.StateDir)
	journals, err := filepath.Glob(filepath.Join(dir, "upgrades", "*", "journal"))
	if err != nil {
		return nil // not with this pattern
	}
	slices.Sort(journals)
	files := map[string]string{filepath.Join(dir, "state.json"): "agent/state.json"}
	names := []string{filepath.Join(dir, "state.json")}
	const most = 16 // the last ones
	for _, path := range journals[max(0, len(journals)-most):] {
		files[path] = "agent/upgrade-" + nameOf(filepath.Base(filepath.Dir(path))) + ".journal"
		names = append(names, path)
	}
	for _, path := range names {
		if p, ok := readFile(path, files[path], o); ok {
			out = append(out, p)
		}
	}
	return out
}

func nameOf(dir string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '-'
	}, strings.ToLower(dir))
	return name[:min(len(name), 64)]
}

// readFile returns a regular file; false if there is none.
func readFile(path, name string, o Options) (archive.Part, bool) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return archive.Part{}, false
	}
	p := part(name, path)
	text := archive.NewText(o.Redact, o.Limit/8)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err == nil {
		err = copyFile(text, path)
	}
	out := text.Part(p)
	if err != nil {
		out.Error = &supportbundle.Fail(supportbundle.ReasonReadFailed, "cannot read %s: %v", path, err).BundleError
	}
	return out, true
}
