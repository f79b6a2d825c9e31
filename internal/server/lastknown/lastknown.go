// Package lastknown keeps the last state of a cluster on disk. A server that restarts while the API
// server is unreachable shows it, with its age.
package lastknown

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/operations"
)

const (
	name    = "last-known.json"
	format  = "refit-last-known"
	version = 1
	mode    = fs.FileMode(0o600)
)

// maxBytes is the maximum size of the file. Thousands of nodes need a fraction of it.
const maxBytes = 64 << 20

// File is the file with the last known state of one cluster.
type File struct {
	// Directory is absolute.
	Directory string
	// Cluster and Server identify the cluster. A file about another one is ignored.
	Cluster, Server string
}

// content is the content of a file. It has what a Copy has: no Secret, no annotation.
type content struct {
	Format     string
	Version    int
	Cluster    string
	Server     string
	CurrentAt  time.Time
	Leader     string                                   `json:",omitempty"`
	Operations map[string]*refitv1alpha1.ClusterUpgrade `json:",omitempty"`
	Orders     map[string]*refitv1alpha1.NodeUpgrade    `json:",omitempty"`
	Reports    map[string]*refitv1alpha1.NodeReport     `json:",omitempty"`
	Nodes      map[string]operations.NodeFacts          `json:",omitempty"`
	Releases   map[string]cliv1alpha1.ListedRelease     `json:",omitempty"`
	Gaps       map[string]string                        `json:",omitempty"`
	// NotInstalled is absent in files of older versions, which is false.
	NotInstalled bool `json:",omitempty"`
	// APIServers is absent in files of older versions, too.
	APIServers []string `json:",omitempty"`
}

func (f *File) path() string { return filepath.Join(f.Directory, name) }

// ErrForeign is a file that this version of Refit did not write about this cluster.
var ErrForeign = errors.New("it is not the last known state of this cluster")

// Load returns the last known state. Without a file, it is empty.
func (f *File) Load() (operations.Copy, error) {
	out := operations.NewCopy()
	file, err := os.Open(f.path())
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return out, fmt.Errorf("cannot open the last known state: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return out, fmt.Errorf("cannot read the last known state: %w", err)
	case !info.Mode().IsRegular() || info.Size() > maxBytes:
		return out, fmt.Errorf("cannot read %s: %w", f.path(), ErrForeign)
	}
	var c content
	if err := json.NewDecoder(bufio.NewReader(io.LimitReader(file, maxBytes))).Decode(&c); err != nil {
		return out, fmt.Errorf("cannot decode %s: %w", f.path(), err)
	}
	if c.Format != format || c.Version != version || c.Cluster != f.Cluster || c.Server != f.Server || c.CurrentAt.IsZero() {
		return out, fmt.Errorf("cannot use %s: %w", f.path(), ErrForeign)
	}
	fill(&out.Operations, c.Operations)
	fill(&out.Orders, c.Orders)
	fill(&out.Reports, c.Reports)
	fill(&out.Nodes, c.Nodes)
	fill(&out.Releases, c.Releases)
	fill(&out.Gaps, c.Gaps)
	out.Leader, out.NotInstalled, out.APIServers, out.API.CurrentAt = c.Leader, c.NotInstalled, c.APIServers, c.CurrentAt
	return out, nil
}

// fill keeps an empty map where the file has none.
func fill[T any](to *map[string]T, from map[string]T) { //nolint:gocritic // the map itself is replaced
	if from != nil {
		*to = from
	}
}

// Save writes a state. The caller must not change it meanwhile.
func (f *File) Save(c *operations.Copy) error {
	if c.API.CurrentAt.IsZero() {
		return nil // nothing was read yet
	}
	out := content{
		Format: format, Version: version, Cluster: f.Cluster, Server: f.Server, CurrentAt: c.API.CurrentAt.UTC(), Leader: c.Leader,
		Operations: c.Operations, Orders: c.Orders, Reports: c.Reports, Nodes: c.Nodes, Releases: c.Releases, Gaps: c.Gaps,
		NotInstalled: c.NotInstalled, APIServers: c.APIServers,
	}
	err := f.write(&out)
	if errors.Is(err, errTooLarge) { // the upgrades matter most
		out.Orders, out.Reports = nil, nil
		err = f.write(&out)
	}
	if err != nil {
		return fmt.Errorf("cannot write the last known state: %w", err)
	}
	return nil
}

func (f *File) write(c *content) error {
	return durable.Write(f.path(), durable.Attributes{Mode: mode, Owner: durable.Caller}, func(file *os.File) error {
		buffer := bufio.NewWriterSize(&bounded{file, maxBytes}, 1<<16)
		if err := json.NewEncoder(buffer).Encode(c); err != nil {
			return err
		}
		return buffer.Flush()
	})
}

var errTooLarge = errors.New("the state is too large")

// bounded fails once more was written than its bound.
type bounded struct {
	io.Writer
	left int
}

func (b *bounded) Write(p []byte) (int, error) {
	if len(p) > b.left {
		return 0, errTooLarge
	}
	b.left -= len(p)
	return b.Writer.Write(p)
}
