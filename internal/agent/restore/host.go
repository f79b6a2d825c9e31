package restore

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"

	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/etcd"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/rehearsal"
	"github.com/refit-dev/refit/internal/engine/transient"
	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/restore"
)

// Host is the Machine of a real host.
type Host struct {
	// Pods returns the static pods of the Node with a name.
	Pods     func(node string) Pods
	Settings settings.Settings
	Cluster  Cluster
	Progress func(string)

	pods Pods
}

// Pods are the static pods of this host.
type Pods interface {
	// AwaitStopped waits until the container of a component has ended.
	AwaitStopped(ctx context.Context, component string) error
	RestartKubelet(ctx context.Context) error
	// PodRuns returns nil if the container of a component runs.
	PodRuns(ctx context.Context, component string) error
	// APIServerReady returns nil if the API server of this host is ready at its own address.
	APIServerReady(ctx context.Context) error
}

// Cluster is the cluster that the API serves.
type Cluster interface {
	ClusterUID(ctx context.Context) (string, error)
	// EtcdEndpoints returns the client URLs of the members of etcd, by node.
	EtcdEndpoints(ctx context.Context) (map[string][]string, error)
}

// For sets the name of the Node, which is that of its etcd member.
func (h *Host) For(member string) *Host {
	h.pods = h.Pods(member)
	return h
}

// AwaitStopped waits until a static pod has ended.
func (h *Host) AwaitStopped(ctx context.Context, component string) error {
	err := h.pods.AwaitStopped(ctx, component)
	if failed, ok := errors.AsType[*node.Failure](err); ok { // its remedy is for upgrades
		failed.Remedy = "Check why its container does not exit (`journalctl -u kubelet -u containerd`), then run the same command again"
	}
	return err
}

// RestartKubelet restarts the kubelet.
func (h *Host) RestartKubelet(ctx context.Context) error { return h.pods.RestartKubelet(ctx) }

// Running returns nil if the container of a static pod runs.
func (h *Host) Running(ctx context.Context, component string) error {
	return h.pods.PodRuns(ctx, component)
}

// Etcdutl runs etcdutl in a transient unit.
func (h *Host) Etcdutl(ctx context.Context, u rehearsal.Etcdutl) error {
	ctr, err := host.LookPath("ctr")
	if err != nil {
		return err
	}
	units, err := transient.Connect(ctx)
	if err != nil {
		return err
	}
	defer units.Close()
	runner := &rehearsal.Runner{
		Units: units, Dir: h.Settings.RehearsalDir(), Ctr: ctr, Socket: h.Settings.CRISocket, Timeouts: rehearsal.DefaultTimeouts(),
		Observer: rehearsal.Observer{Progress: func(p rehearsal.Progress) { h.Progress(p.Message) }},
	}
	return runner.Etcdutl(ctx, u)
}

// Serving queries all members at once.
func (h *Host) Serving(ctx context.Context, manifest []byte, self string, members []restore.Member) []string {
	config, err := etcd.ConfigFromManifest(manifest)
	if err != nil {
		return nil
	}
	serves := make([]bool, len(members))
	var requests sync.WaitGroup
	for i, m := range members {
		at := config
		if m.Name != self {
			at = config.At(m.ClientURLs)
		}
		requests.Go(func() { serves[i] = serving(ctx, at, m.Name, members) == nil })
	}
	requests.Wait()
	var names []string
	for i, m := range members {
		if serves[i] {
			names = append(names, m.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Revision reads that of the member of this host.
func (h *Host) Revision(ctx context.Context, manifest []byte) (int64, error) {
	config, err := etcd.ConfigFromManifest(manifest)
	if err != nil {
		return 0, err
	}
	client, err := etcd.Dial(config)
	if err != nil {
		return 0, err
	}
	defer client.Close()
	return client.Revision(ctx)
}

// serving returns nil if a member answers a read with the quorum of its cluster. A member whose
// data was deleted can start a cluster of its own, which does not count.
func serving(ctx context.Context, at etcd.Config, name string, members []restore.Member) error {
	if len(at.Endpoints) == 0 {
		return errors.New("the member has no client URL")
	}
	client, err := etcd.Dial(at)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := client.Serves(ctx); err != nil || len(members) == 1 {
		return err
	}
	found, err := client.Members(ctx)
	if err != nil {
		return err
	}
	for _, m := range found {
		if m.Name != name && slices.ContainsFunc(members, func(other restore.Member) bool { return other.Name == m.Name }) {
			return nil
		}
	}
	return errors.New("the member has a cluster of its own")
}

// ReplaceMember removes the lost member and adds a learner.
func (h *Host) ReplaceMember(ctx context.Context, manifest []byte, self restore.Member, members []restore.Member) error {
	return h.through(ctx, manifest, self, members, func(client *etcd.Client) error { return client.ReplaceMember(ctx, self.PeerURLs[0]) })
}

// InitialCluster returns the members for the flag of a member that joins.
func (h *Host) InitialCluster(ctx context.Context, manifest []byte, self restore.Member, members []restore.Member) (list string, err error) {
	err = h.through(ctx, manifest, self, members, func(client *etcd.Client) error {
		list, err = client.InitialCluster(ctx, self.Name, self.PeerURLs[0])
		return err
	})
	return list, err
}

// Promote makes the learner a voting member.
func (h *Host) Promote(ctx context.Context, manifest []byte, self restore.Member, members []restore.Member) error {
	return h.through(ctx, manifest, self, members, func(client *etcd.Client) error { return client.Promote(ctx, self.PeerURLs[0]) })
}

// through calls etcd through another member that serves.
func (h *Host) through(ctx context.Context, manifest []byte, self restore.Member, members []restore.Member, call func(*etcd.Client) error) error {
	config, err := etcd.ConfigFromManifest(manifest)
	if err != nil {
		return err
	}
	serving := h.Serving(ctx, manifest, self.Name, members)
	at := slices.IndexFunc(members, func(m restore.Member) bool { return m.Name != self.Name && slices.Contains(serving, m.Name) })
	if at < 0 {
		return errors.New("no other member of etcd serves")
	}
	client, err := etcd.Dial(config.At(members[at].ClientURLs))
	if err != nil {
		return err
	}
	defer client.Close()
	return call(client)
}

// APIServerReady queries the API server of this host at its own address.
func (h *Host) APIServerReady(ctx context.Context) error { return h.pods.APIServerReady(ctx) }

// ClusterUID returns the UID of the namespace kube-system.
func (h *Host) ClusterUID(ctx context.Context) (string, error) { return h.Cluster.ClusterUID(ctx) }

// NewSite returns where the restores of this host are. Manifests is the directory of static pods.
func NewSite(s settings.Settings, manifests string) (Site, error) {
	id, err := host.Identify()
	return Site{Dir: s.RestoresDir(), Manifests: manifests, MachineID: id.MachineID, BootID: id.BootID}, err
}

// readOr returns the content of the first of several files that exists.
func readOr(paths ...string) ([]byte, error) {
	var all error
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err == nil {
			return text, nil
		}
		all = errors.Join(all, err)
	}
	return nil, all
}
