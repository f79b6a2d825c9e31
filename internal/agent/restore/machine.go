package restore

import (
	"context"

	"github.com/refit-dev/refit/internal/engine/rehearsal"
	"github.com/refit-dev/refit/internal/upgrade/restore"
)

// Machine is what a restore observes and changes of a host besides files. Tests replace it.
type Machine interface {
	// AwaitStopped waits until no container of a component runs whose manifest is removed.
	AwaitStopped(ctx context.Context, component string) error
	// RestartKubelet restarts the kubelet. Containers keep running.
	RestartKubelet(ctx context.Context) error
	// Running returns nil if a container of the component runs.
	Running(ctx context.Context, component string) error
	// Etcdutl runs etcdutl of an image.
	Etcdutl(ctx context.Context, u rehearsal.Etcdutl) error
	// Serving returns the names of the members that answer a read which needs the quorum, each at
	// its own address. The manifest of etcd has the certificates.
	Serving(ctx context.Context, manifest []byte, self string, members []restore.Member) []string
	// Revision returns that of the member of this host.
	Revision(ctx context.Context, manifest []byte) (int64, error)
	// Live returns the members of etcd as another member than self reports them, which needs the
	// quorum, and the UID of the cluster that the API serves.
	Live(ctx context.Context, manifest []byte, self string) (members []restore.Member, clusterUID string, err error)
	// ReplaceMember, InitialCluster and Promote change and read the members through one that
	// serves: self is removed and added as a learner, then made a voting member.
	ReplaceMember(ctx context.Context, manifest []byte, self restore.Member, members []restore.Member) error
	InitialCluster(ctx context.Context, manifest []byte, self restore.Member, members []restore.Member) (string, error)
	Promote(ctx context.Context, manifest []byte, self restore.Member, members []restore.Member) error
	// APIServerReady returns nil if the API server of this host is ready.
	APIServerReady(ctx context.Context) error
	// ClusterUID returns the UID that identifies the cluster.
	ClusterUID(ctx context.Context) (string, error)
}
