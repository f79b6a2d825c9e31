package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/refit-dev/refit/test/testbed/machine"
)

// Phases of a cluster. Prune keeps a cluster that is up; the others only while the process that
// uses them lives.
const (
	PhaseComing   = "coming"
	PhaseUp       = "up"
	PhaseBorrowed = "borrowed" // up for one process, such as a test
	PhaseGoing    = "going"
)

// state is the record of a cluster on disk. It is written before anything of the cluster exists.
type state struct {
	Spec
	// Number determines the addresses and link names of the cluster.
	Number int `json:"number"`
	// Root is the root of the node image, the lower layer of nodes without a separate disk.
	Root string `json:"root,omitempty"`
	// Apt is the local apt repository.
	Apt string `json:"apt,omitempty"`
	// Bin is the directory with kubectl of the cluster's version.
	Bin   string   `json:"programs,omitempty"`
	Phase string   `json:"phase"`
	Nodes []member `json:"nodes"`
	// EtcdHosts are hosts of an external etcd that are no nodes.
	EtcdHosts []member `json:"etcdHosts,omitempty"`
}

// member is the record of a node.
type member struct {
	Name string `json:"name"`
	Role string `json:"role"`
	// Number determines the address, Pod range and link name of the node.
	Number int    `json:"number"`
	Zone   string `json:"zone,omitempty"`
}

// Roles of nodes.
const (
	RoleControlPlane = "control-plane"
	RoleWorker       = "worker"
)

// ErrNotFound is returned if there is no cluster or node with the name.
var ErrNotFound = errors.New("not found")

func (t *Testbed) clustersDir() string       { return filepath.Join(t.stateDir, "clusters") }
func (t *Testbed) dir(cluster string) string { return filepath.Join(t.clustersDir(), cluster) }
func (t *Testbed) lockFile() string          { return filepath.Join(t.stateDir, "lock") }
func (t *Testbed) kernelSettingsFile() string {
	return filepath.Join(t.stateDir, "kernel-settings.json")
}

// busyFile is locked by the run that creates or removes the cluster.
func (t *Testbed) busyFile(cluster string) string { return filepath.Join(t.dir(cluster), "busy") }

func (t *Testbed) save(s *state) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return machine.WriteFileAtomic(filepath.Join(t.dir(s.Name), "cluster.json"), text, 0o644)
}

func (t *Testbed) load(name string) (*state, error) {
	text, err := os.ReadFile(filepath.Join(t.dir(name), "cluster.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cluster %q: %w", name, ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	var s state
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("reading the record of cluster %q: %w", name, err)
	}
	return &s, nil
}

// names lists every cluster with a directory, complete or not.
func (t *Testbed) names() ([]string, error) {
	entries, err := os.ReadDir(t.clustersDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}

// claim reserves the name and a free number, and returns with the cluster's busy lock held.
func (t *Testbed) claim(ctx context.Context, spec Spec) (s *state, release func(), err error) {
	err = t.locked(ctx, func() error {
		if _, err := os.Stat(t.dir(spec.Name)); err == nil {
			return fmt.Errorf("cluster %q already exists; to remove it, run: testbed down --name %s (or, if it never started: testbed prune)",
				spec.Name, spec.Name)
		}
		number, err := t.freeNumber()
		if err != nil {
			return err
		}
		if err := machine.RememberKernelSettings(t.kernelSettingsFile()); err != nil {
			return err
		}
		if err := os.MkdirAll(t.dir(spec.Name), 0o755); err != nil {
			return err
		}
		if release, err = machine.TryLock(t.busyFile(spec.Name)); err != nil {
			return err
		}
		s = &state{Spec: spec, Number: number, Phase: PhaseComing, Nodes: members(spec), EtcdHosts: etcdHosts(spec)}
		if err := t.save(s); err != nil {
			release()
			return err
		}
		return nil
	})
	return s, release, err
}

func (t *Testbed) freeNumber() (int, error) {
	names, err := t.names()
	if err != nil {
		return 0, err
	}
	var taken []int
	for _, name := range names {
		if s, err := t.load(name); err == nil {
			taken = append(taken, s.Number)
		}
	}
	for n := range maxClusters {
		if !slices.Contains(taken, n) {
			return n, nil
		}
	}
	return 0, fmt.Errorf("all %d address ranges are in use; to remove a cluster, run: testbed down", maxClusters)
}

// members names the nodes: control plane nodes first, zones in turn within each role.
func members(spec Spec) []member {
	var nodes []member
	add := func(role, short string, count int) {
		for i := range count {
			m := member{Name: fmt.Sprintf("%s-%s-%d", spec.Name, short, i+1), Role: role, Number: len(nodes) + 1}
			if len(spec.Zones) > 0 {
				m.Zone = spec.Zones[i%len(spec.Zones)]
			}
			nodes = append(nodes, m)
		}
	}
	add(RoleControlPlane, "cp", spec.ControlPlanes)
	add(RoleWorker, "worker", spec.Workers)
	return nodes
}

// etcdHosts names the hosts of an external etcd that has its own.
func etcdHosts(spec Spec) []member {
	var hosts []member
	if spec.Etcd == EtcdExternalHosts {
		for i := range externalHosts {
			name := fmt.Sprintf("%s-etcd-%d", spec.Name, i+1)
			hosts = append(hosts, member{Name: name, Role: RoleEtcd, Number: spec.ControlPlanes + spec.Workers + i + 1})
		}
	}
	return hosts
}
