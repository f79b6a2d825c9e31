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

// readTimeout is the timeout of each reader: an incomplete report in time is better than none.
const readTimeout = 30 * time.Second

// Sources are the sources of facts.
type Sources struct {
	AgentVersion string
	NodeName     string
	Settings     settings.Settings
	State        node.HostState
	// Keys are the fingerprints of the pinned keys.
	Keys []string
	// Answered is the number of the request that this report answers.
	Answered int64
	// ControlPlane is set for control plane nodes. Manifests on disk are another sign.
	ControlPlane bool
	// Release is the ClusterRelease to install; nil if unknown.
	Release *Wanted

	// API is the API client, such as *cluster.Client; nil if unavailable.
	API API
	// Parts returns how each part of the host is installed; if nil, only the kubelet is known.
	Parts func(ctx context.Context) ([]refitv1alpha1.PartFacts, error)
	// Unit queries systemd; if nil, each report connects to it.
	Unit func(ctx context.Context, name string) (host.Unit, error)
	// Cache keeps results that change only with their files; if nil, nothing is cached.
	Cache *Cache

	root     string // root of the host's file system, for tests
	noPauses bool   // for tests
}

// API is the part of the API client that reports need.
type API interface {
	ServerTime(ctx context.Context) (server, host time.Time, err error)
	Get(ctx context.Context, server, path string) (code int, body []byte, err error)
	KubeadmConfig(ctx context.Context) (map[string]string, error)
	Server() (string, error)
}

// Wanted is a ClusterRelease with a valid signature, and the store of its files.
type Wanted struct {
	Ref     refitv1alpha1.ReleaseRef
	Release artifact.Release
	Store   *artifact.Store
	// Blobs are the blobs that this host needs, including image archives; if nil, all files for
	// such a host count.
	Blobs []refitv1alpha1.Blob
	// ImagesOnly is set if the host runs the version already and needs no files.
	ImagesOnly bool
}

// reader reads facts and returns a function that writes them to the status.
type reader struct {
	name string
	read func(context.Context, *Sources) (func(*refitv1alpha1.NodeReportStatus), error)
}

// readers are listed in the order in which they write. They run concurrently, and none sees the
// facts of another.
var readers = []reader{
	{"identity", identity},        // machine, boot, operating system
	{"packages", packageFacts},    // how each part was installed, packages on hold
	{"kernel", kernel},            // cgroups, swap
	{"disks", disks},              // disk space, read-only paths
	{"addresses", addresses},      // of the interfaces
	{"virtualips", virtualIPs},    // addresses that keepalived or kube-vip may move here
	{"clock", clock},              // compared with the API server
	{"endpoint", endpoint},        // reachability of the cluster's address
	{"kubelet", kubelet},          // versions, flags, configuration
	{"services", services},        // scripts that start the kubelet or containerd
	{"binaries", binaries},        // kubeadm, runc, CNI plugins
	{"certificates", certs},       // expiry
	{"runtime", runtimeFacts},     // container runtime, missing images
	{"artifacts", artifacts},      // missing files of the ClusterRelease
	{"manifests", drift},          // static pods, compared with kubeadm's
	{"etcd", etcdFacts},           // member of this host
	{"apiserver", apiServerFacts}, // API server of this host
}

// Gather runs all readers once.
func Gather(ctx context.Context, s Sources) refitv1alpha1.NodeReportStatus {
	now := metav1.NewTime(time.Now().UTC().Truncate(time.Second))
	status := refitv1alpha1.NodeReportStatus{
		Answered: s.Answered, ObservedTime: &now, AgentVersion: refitv1alpha1.Clip(s.AgentVersion, maxAgentVersion),
		OrderFormat: refitv1alpha1.MaxOrderFormat, PayloadVersion: refitv1alpha1.MaxPayloadVersion,
		NodeUID: s.State.NodeUID, AcceptedSequence: s.State.Sequence, AcceptedEpoch: s.State.Epoch, ReleaseKeys: s.Keys,
	}
	s.Parts = once(s.Parts)
	learned := make([]func(*refitv1alpha1.NodeReportStatus), len(readers))
	var reading sync.WaitGroup
	for i, r := range readers {
		reading.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, readTimeout)
			defer cancel()
			write, err := r.read(ctx, &s)
			if err != nil {
				slog.WarnContext(ctx, "cannot read facts of this host", "facts", r.name, "error", err)
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
	bound(&status, s.NodeName)
	return status
}
