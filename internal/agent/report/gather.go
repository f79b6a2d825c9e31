package report

import (
	"context"
	"log/slog"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// readTimeout bounds each reader: a report that lacks something comes in time, one that waits for a part that hangs does not.
const readTimeout = 30 * time.Second

// Sources are where the facts come from.
type Sources struct {
	AgentVersion string
	NodeName     string
	Settings     settings.Settings
	Memory       node.HostState
	// Keys are the fingerprints of the keys that are pinned on the host.
	Keys []string
	// Answered is the question that this report answers.
	Answered int64
	// ControlPlane says that the node is one of the control plane. Manifests on disk say it too.
	ControlPlane bool
	// Release is the one that is to be installed; nil: none is known.
	Release *Wanted

	// API is the cluster's; nil: it cannot be asked. *cluster.Client is one.
	API API
	// Unit asks systemd; nil: it is connected to for each report.
	Unit func(ctx context.Context, name string) (host.Unit, error)
	// Cache keeps what is expensive to learn and does not change unless a file does; nil: nothing is kept.
	Cache *Cache

	root string // for tests: the host's file system
}

// API is what a report asks of the cluster.
type API interface {
	ServerTime(ctx context.Context) (server, host time.Time, err error)
	Ask(ctx context.Context, server, path string) (code int, body []byte, err error)
	KubeadmConfig(ctx context.Context) (map[string]string, error)
	Server() (string, error)
}

// Wanted is a ClusterRelease whose signature was found good, and where its files are kept.
type Wanted struct {
	Ref     refitv1alpha1.ReleaseRef
	Release artifact.Release
	Store   *artifact.Store
	// Blobs are what this host needs of it, archives of images too; nil: not known, and all files for a host like this one count.
	Blobs []refitv1alpha1.Blob
}

// reader learns some facts and returns how to write them down.
type reader struct {
	name string
	read func(context.Context, *Sources) (func(*refitv1alpha1.NodeReportStatus), error)
}

// readers in the order in which they write. They read at the same time, and none of them sees what another wrote.
var readers = []reader{
	{"identity", identity},        // machine, boot, operating system
	{"packages", packageFacts},    // how Kubernetes got here, what is held
	{"kernel", kernel},            // cgroups, swap
	{"disks", disks},              // room, and what cannot be written
	{"addresses", addresses},      // of the interfaces: who has the VIP?
	{"clock", clock},              // against the API server's
	{"endpoint", endpoint},        // does the cluster's address answer?
	{"kubelet", kubelet},          // versions, flags, configuration
	{"programs", programs},        // kubeadm, runc, CNI plugins
	{"certificates", certs},       // when they expire
	{"runtime", runtimeFacts},     // the container runtime, and images that are missing
	{"artifacts", artifacts},      // files of the ClusterRelease that are missing
	{"manifests", drift},          // static pods, compared with what kubeadm renders
	{"etcd", etcdFacts},           // this host's member
	{"apiserver", apiServerFacts}, // this host's API server
}

// Gather asks everything once.
func Gather(ctx context.Context, s Sources) refitv1alpha1.NodeReportStatus {
	now := metav1.NewTime(time.Now().UTC().Truncate(time.Second))
	status := refitv1alpha1.NodeReportStatus{
		Answered: s.Answered, ObservedTime: &now, AgentVersion: refitv1alpha1.Clip(s.AgentVersion, maxAgentVersion), OrderFormat: refitv1alpha1.MaxOrderFormat,
		NodeUID: s.Memory.NodeUID, AcceptedSequence: s.Memory.Sequence, ReleaseKeys: s.Keys,
	}
	learned := make([]func(*refitv1alpha1.NodeReportStatus), len(readers))
	var reading sync.WaitGroup
	for i, r := range readers {
		reading.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, readTimeout)
			defer cancel()
			write, err := r.read(ctx, &s)
			if err != nil {
				slog.WarnContext(ctx, "facts of this host cannot be read", "facts", r.name, "error", err)
			}
			learned[i] = write
		})
	}
	reading.Wait()
	for _, write := range learned {
		if write != nil {
			write(&status)
		}
	}
	bound(&status)
	return status
}
