package report

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/cluster"
	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/etcd"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

var _ API = (*cluster.Client)(nil)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// rooted returns sources on a host with these files.
func rooted(t *testing.T, files map[string]string) *Sources {
	t.Helper()
	s := &Sources{root: t.TempDir(), noPauses: true, Settings: settings.Settings{StateDir: "/var/lib/refit", CRISocket: "/run/absent.sock"}}
	for name, text := range files {
		must(t, os.MkdirAll(filepath.Dir(s.path(name)), 0o755))
		must(t, os.WriteFile(s.path(name), []byte(text), 0o600))
	}
	return s
}

// A report works on any machine: facts that cannot be read are absent.
func TestReportOfThisMachine(t *testing.T) {
	s := Sources{
		AgentVersion: "v0.1.0", NodeName: "n1", Settings: settings.Default(), Keys: []string{"SHA256:x"}, Answered: 7, Cache: NewCache(),
		State: node.HostState{Sequence: 5, NodeUID: "u-1"},
	}
	if kubeconfig := os.Getenv("REFIT_REPORT_KUBECONFIG"); kubeconfig != "" {
		// On a node of the testbed.
		client, err := cluster.Connect(kubeconfig, "test")
		must(t, err)
		s.API, s.NodeName = client, client.NodeName()
	}
	began := time.Now()
	got := Gather(t.Context(), s)
	first := time.Since(began)
	if got.AgentVersion != "v0.1.0" || got.OrderFormat != refitv1alpha1.MaxOrderFormat || got.PayloadVersion != refitv1alpha1.MaxPayloadVersion || got.AcceptedSequence != 5 || got.NodeUID != "u-1" || got.Answered != 7 || got.ObservedTime == nil ||
		got.Arch == "" || got.Kernel == "" || got.CgroupVersion == 0 || got.SwapOn == nil || len(got.Disks) == 0 || !slices.Equal(got.ReleaseKeys, s.Keys) {
		t.Errorf("got %+v", got)
	}
	began = time.Now()
	again := Gather(t.Context(), s)
	text, err := json.MarshalIndent(got, "", " ")
	must(t, err)
	t.Logf("%s\n%d bytes in %s, again in %s", text, len(text), first, time.Since(began))
	if Changed(got, again) {
		other, _ := json.Marshal(again)
		t.Errorf("the report changed without a reason: %s", other)
	}
}

func TestBoundTruncatesAndRecordsIt(t *testing.T) {
	long := strings.Repeat("ä", 300)
	many := func() []string {
		var list []string
		for i := range 200 {
			list = append(list, strconv.Itoa(i)+long)
		}
		return list
	}
	gates := map[string]bool{long: true}
	for i := range 100 {
		gates["gate"+strconv.Itoa(i)] = true
	}
	s := refitv1alpha1.NodeReportStatus{
		ReleaseKeys: many(), HeldPackages: many(), ReadOnlyPaths: many(), Addresses: many(), MissingImages: many(), OS: long, Kernel: long, Hostname: long,
		Disks: make([]refitv1alpha1.DiskFacts, 20), Certificates: make([]refitv1alpha1.CertificateFacts, 50),
		Versions:  refitv1alpha1.HostVersions{Kubelet: long, KubeletOnDisk: long, Kubeadm: long, Containerd: long, Runc: long, CNIPlugins: long},
		Kubelet:   &refitv1alpha1.KubeletFacts{Flags: many(), ConfigFields: many(), FeatureGates: gates},
		Drift:     &refitv1alpha1.DriftFacts{Differences: many(), MissingManifests: many(), UnparsableManifests: many(), APIReferences: many()},
		CRI:       &refitv1alpha1.CRIFacts{Runtime: long},
		APIServer: &refitv1alpha1.APIServerFacts{Version: long},
		Parts:     []refitv1alpha1.PartFacts{{Part: refitv1alpha1.PartCNI, Files: many()}},
	}
	c := &cutter{}
	c.limit(&s)
	want := []string{
		"releaseKeys", "heldPackages", "readOnlyPaths", "addresses", "missingImages", "disks", "certificates", "parts", "kubelet.flags", "kubelet.configFields",
		"kubelet.featureGates", "drift.differences", "drift.missingManifests", "drift.unparsableManifests", "drift.apiReferences",
	}
	if !slices.Equal(c.names, want) {
		t.Errorf("truncated: %q", c.names)
	}
	if len(s.Parts[0].Files) != 24 || len([]rune(s.Parts[0].Files[0])) != 32 || len(s.Addresses) != 32 || len(s.Kubelet.FeatureGates) != 32 || len([]rune(s.Versions.Kubelet)) != 64 || len(s.Drift.Differences) != 10 ||
		len([]rune(s.Drift.Differences[0])) != 160 || len([]rune(s.Kubelet.Flags[0])) != 64 || s.Kubelet.FeatureGates[long] {
		t.Errorf("got %+v", s)
	}
	small := refitv1alpha1.NodeReportStatus{Addresses: []string{"10.0.0.1"}}
	if bound(&small, "worker-1"); small.Truncated != nil {
		t.Errorf("truncated in a small report: %q", small.Truncated)
	}
}

func TestChangedComparesOnlyDiscreteFacts(t *testing.T) {
	base := func() refitv1alpha1.NodeReportStatus {
		now, off, inodes := metav1.Now(), int64(5), int32(50)
		return refitv1alpha1.NodeReportStatus{
			Answered: 1, ObservedTime: &now, ClockOffsetMilliseconds: &off, Kernel: "6.8",
			Disks:        []refitv1alpha1.DiskFacts{{Path: "/var", FreeMiB: 1000, FreeInodesPercent: &inodes}},
			Certificates: []refitv1alpha1.CertificateFacts{{Name: "apiserver", NotAfter: metav1.NewTime(time.Unix(1e9, 0))}},
			Etcd:         &refitv1alpha1.EtcdFacts{Name: "cp-1", DBSizeMiB: 10, QuotaMiB: 2048, Healthy: true},
			ExternalEtcd: &refitv1alpha1.ExternalEtcdFacts{DBSizeMiB: 10, Members: []refitv1alpha1.ExternalEtcdMember{{Name: "etcd-1", Problem: "it has no leader"}}},
		}
	}
	for situation, tt := range map[string]struct {
		change func(*refitv1alpha1.NodeReportStatus)
		is     bool
	}{
		"nothing":                {func(*refitv1alpha1.NodeReportStatus) {}, false},
		"another request":        {func(s *refitv1alpha1.NodeReportStatus) { s.Answered++ }, false},
		"later":                  {func(s *refitv1alpha1.NodeReportStatus) { s.ObservedTime = nil }, false},
		"the clock":              {func(s *refitv1alpha1.NodeReportStatus) { *s.ClockOffsetMilliseconds = 9 }, false},
		"less space":             {func(s *refitv1alpha1.NodeReportStatus) { s.Disks[0].FreeMiB = 1; *s.Disks[0].FreeInodesPercent = 1 }, false},
		"a larger etcd":          {func(s *refitv1alpha1.NodeReportStatus) { s.Etcd.DBSizeMiB = 11 }, false},
		"a larger external etcd": {func(s *refitv1alpha1.NodeReportStatus) { s.ExternalEtcd.DBSizeMiB = 11 }, false},
		"another problem":        {func(s *refitv1alpha1.NodeReportStatus) { s.ExternalEtcd.Members[0].Problem = "it does not answer" }, false},
		"a healthy member":       {func(s *refitv1alpha1.NodeReportStatus) { s.ExternalEtcd.Members[0].Healthy = true }, true},
		"an empty list":          {func(s *refitv1alpha1.NodeReportStatus) { s.Addresses = []string{} }, false},
		"another kernel":         {func(s *refitv1alpha1.NodeReportStatus) { s.Kernel = "6.9" }, true},
		"an order":               {func(s *refitv1alpha1.NodeReportStatus) { s.AcceptedSequence = 4 }, true},
		"a certificate": {func(s *refitv1alpha1.NodeReportStatus) {
			s.Certificates[0].NotAfter = metav1.NewTime(time.Unix(2e9, 0))
		}, true},
		"unhealthy etcd": {func(s *refitv1alpha1.NodeReportStatus) { s.Etcd.Healthy = false }, true},
		"more needed  ":  {func(s *refitv1alpha1.NodeReportStatus) { s.Disks[0].NeededMiB = 5 }, true},
		"a lost disk":    {func(s *refitv1alpha1.NodeReportStatus) { s.Disks = nil }, true},
	} {
		a, b := base(), base()
		b.ObservedTime = a.ObservedTime
		tt.change(&b)
		if is := Changed(a, b); is != tt.is {
			t.Errorf("%s: %t", situation, is)
		}
	}
	a, b := base(), base()
	Changed(a, b)
	if a.Disks[0].FreeMiB != 1000 || a.Etcd.DBSizeMiB != 10 || a.ExternalEtcd.Members[0].Problem == "" {
		t.Error("the comparison modified a report")
	}
}

func TestKubeletFacts(t *testing.T) {
	s := rooted(t, map[string]string{
		"/var/lib/kubelet/kubeadm-flags.env": `KUBELET_KUBEADM_ARGS="--pod-infra-container-image=registry.k8s.io/pause:3.10 --node-ip 10.0.0.1"`,
		"/etc/default/kubelet":               `KUBELET_EXTRA_ARGS=--feature-gates=A=false,B=true`,
		"/var/lib/kubelet/config.yaml": `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
featureGates: {A: true, C: true}
evictionHard: {memory.available: 100Mi}
tlsCipherSuites: [x, y]
registerWithTaints: [{key: a, effect: b}]
emptyMap: {}
`,
		"/etc/kubelet.d/10.conf": "failCgroupV1: true\nmaxPods: 5\n",
		"/etc/kubelet.d/note":    "{",
	})
	unit := host.Unit{
		Exists:           true,
		ExecStart:        []string{"/usr/bin/kubelet", "--config=/var/lib/kubelet/config.yaml", "--config-dir=/etc/kubelet.d", "$KUBELET_KUBEADM_ARGS", "$KUBELET_EXTRA_ARGS"},
		EnvironmentFiles: []string{"/var/lib/kubelet/kubeadm-flags.env", "/etc/default/kubelet", "/etc/absent"},
	}
	facts, err := s.kubeletFacts(unit)
	must(t, err)
	if want := []string{"config", "config-dir", "feature-gates", "node-ip", "pod-infra-container-image"}; !slices.Equal(facts.Flags, want) {
		t.Errorf("flags: %q", facts.Flags)
	}
	if want := map[string]bool{"A": false, "B": true, "C": true}; !maps.Equal(facts.FeatureGates, want) {
		t.Errorf("gates: %v", facts.FeatureGates)
	}
	want := []string{
		"emptyMap", "evictionHard.memory.available", "failCgroupV1", "featureGates.A", "featureGates.C", "maxPods", "registerWithTaints[].effect",
		"registerWithTaints[].key", "tlsCipherSuites[]",
	}
	if !slices.Equal(facts.ConfigFields, want) || facts.FailCgroupV1 == nil || !*facts.FailCgroupV1 {
		t.Errorf("fields: %q, failCgroupV1 %v", facts.ConfigFields, facts.FailCgroupV1)
	}
	must(t, os.WriteFile(s.path("/var/lib/kubelet/config.yaml"), []byte("secret: [sesame"), 0o600))
	if _, err := s.kubeletFacts(unit); err == nil || strings.Contains(err.Error(), "sesame") {
		t.Errorf("invalid configuration: %v", err)
	}
}

const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: NAME, namespace: kube-system}\nspec:\n  containers: [{name: NAME, image: 'registry.k8s.io/NAME:v1.35.4', command: [NAME]}]\n"

func podOf(name, more string) string { return strings.ReplaceAll(pod, "NAME", name) + more }

func TestManifestFacts(t *testing.T) {
	s := rooted(t, map[string]string{
		"/etc/kubernetes/manifests/kube-apiserver.yaml": podOf("kube-apiserver", ""),
		"/etc/kubernetes/manifests/kube-scheduler.yaml": podOf("kube-scheduler", ""),
		"/etc/kubernetes/manifests/.hidden.yaml":        "{",
		"/etc/kubernetes/manifests/sub/x.yaml":          "{",
		"/etc/kubernetes/manifests/broken.yaml":         "{",
		"/etc/kubernetes/manifests/vip.yaml":            podOf("vip", "  serviceAccountName: vip\n"),
		"/etc/kubernetes/manifests/env.yaml":            strings.Replace(podOf("env", ""), "command: [env]", "envFrom: [{secretRef: {name: s}}]", 1),
		"/etc/kubernetes/manifests/vol.yaml":            podOf("vol", "  volumes: [{name: v, configMap: {name: c}}]\n"),
		"/etc/kubernetes/manifests/csi.yaml":            podOf("csi", "  volumes: [{name: v, csi: {driver: d}}]\n"),
		"/etc/kubernetes/manifests/claim.yaml":          podOf("claim", "  resourceClaims: [{name: gpu}]\n"),
		"/etc/kubernetes/manifests/token.yaml":          podOf("token", "  volumes: [{name: v, projected: {sources: [{downwardAPI: {}}, {serviceAccountToken: {path: t}}]}}]\n"),
		"/etc/kubernetes/manifests/self.yaml":           podOf("self", "  volumes: [{name: v, projected: {sources: [{downwardAPI: {}}]}}]\n"),
		"/var/lib/etcd/member/x":                        "",
	})
	write, err := drift(t.Context(), s)
	must(t, err)
	var got refitv1alpha1.NodeReportStatus
	write(&got)
	want := &refitv1alpha1.DriftFacts{
		MissingManifests: []string{"etcd", "kube-controller-manager"}, UnparsableManifests: []string{"broken.yaml"},
		APIReferences: []string{
			"claim: ResourceClaim gpu", "csi: CSI volume v", "env: environment of env", "token: projected volume v", "vip: ServiceAccount vip", "vol: ConfigMap c",
		},
	}
	if !reflect.DeepEqual(got.Drift, want) {
		t.Errorf("got %+v", got.Drift)
	}
	t.Run("worker", func(t *testing.T) {
		write, err := drift(t.Context(), rooted(t, nil))
		must(t, err)
		write(&got)
		if !reflect.DeepEqual(got.Drift, &refitv1alpha1.DriftFacts{Known: true}) {
			t.Errorf("got %+v", got.Drift)
		}
	})
	t.Run("external etcd", func(t *testing.T) {
		s.API = fakeAPI{config: map[string]string{"ClusterConfiguration": "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.35.4\netcd: {external: {endpoints: ['https://e:2379']}}\n"}}
		if missing := s.missingManifests(t.Context(), map[string][]byte{}); slices.Contains(missing, "etcd") || len(missing) != 3 {
			t.Errorf("missing: %q", missing)
		}
	})
}

func TestEtcdIsExternal(t *testing.T) {
	config := func(etcd string) API {
		return fakeAPI{config: map[string]string{"ClusterConfiguration": "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.35.4\n" + etcd}}
	}
	for situation, tt := range map[string]struct {
		api      API
		endpoint string
		want     bool
		known    bool
	}{
		"external":                          {config("etcd: {external: {endpoints: ['https://127.0.0.1:2379']}}\n"), "https://127.0.0.1:2379", true, true},
		"stacked, and its manifest is lost": {config("etcd: {local: {dataDir: /var/lib/etcd}}\n"), "https://127.0.0.1:2379", false, true},
		"the API is down":                   {nil, "https://10.0.0.9:2379", true, true},
		"the API is down, on loopback":      {nil, "https://127.0.0.1:2379", false, false},
	} {
		if got, err := HasExternalEtcd(t.Context(), tt.api, etcd.Config{Endpoints: []string{tt.endpoint}}); got != tt.want || (err == nil) != tt.known {
			t.Errorf("%s: %t, %v", situation, got, err)
		}
	}
	write, err := etcdFacts(t.Context(), rooted(t, nil))
	if write != nil || err != nil {
		t.Errorf("a worker reports etcd (%v)", err)
	}
}

// fakeAPI returns fixed responses.
type fakeAPI struct {
	config    map[string]string
	codes     map[string]int
	requested *[]string
	ahead     time.Duration
	// silent is how many requests fail first.
	silent *int
	reads  *int // of kubeadm's configuration
	hangs  bool // when that is read
}

func (f fakeAPI) ServerTime(context.Context) (server, host time.Time, err error) {
	return time.Unix(1e9, 0), time.Unix(1e9, 0).Add(f.ahead), nil
}

func (f fakeAPI) Get(_ context.Context, server, path string) (int, []byte, error) {
	*f.requested = append(*f.requested, server+path)
	if f.silent != nil && *f.silent > 0 {
		*f.silent--
		return 0, nil, errors.New("deadline exceeded")
	}
	if code := f.codes[path]; code != 0 {
		return code, []byte(`{"gitVersion":"v1.35.4"}`), nil
	}
	return 0, nil, errors.New("unreachable")
}

func (f fakeAPI) KubeadmConfig(ctx context.Context) (map[string]string, error) {
	if f.reads != nil {
		*f.reads++
	}
	if f.hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if f.config == nil {
		return nil, errors.New("unreachable")
	}
	return f.config, nil
}

func (fakeAPI) Server() (string, error) { return "https://local:6443", nil }

func TestAPIFacts(t *testing.T) {
	annotated := strings.Replace(podOf("kube-apiserver", ""), "metadata: {",
		"metadata: {annotations: {kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint: '10.0.0.1:6444'}, ", 1)
	s := rooted(t, map[string]string{
		"/etc/kubernetes/manifests/kube-apiserver.yaml": annotated,
		"/etc/kubernetes/admin.conf":                    "apiVersion: v1\nkind: Config\ncurrent-context: x\nclusters: [{name: c, cluster: {server: 'https://vip:6443'}}]\ncontexts: [{name: x, context: {cluster: c}}]\n",
	})
	var requested []string
	var got refitv1alpha1.NodeReportStatus
	gather := func(api fakeAPI) {
		t.Helper()
		requested, got = nil, refitv1alpha1.NodeReportStatus{}
		api.requested = &requested
		s.API = api
		for _, read := range []func(context.Context, *Sources) (func(*refitv1alpha1.NodeReportStatus), error){clock, endpoint, apiServerFacts} {
			write, err := read(t.Context(), s)
			must(t, err)
			write(&got)
		}
	}
	gather(fakeAPI{codes: map[string]int{"/readyz": 200, "/version": 200}, ahead: -1500 * time.Millisecond})
	if want := []string{"https://vip:6443/readyz", "https://10.0.0.1:6444/readyz", "https://10.0.0.1:6444/version"}; !slices.Equal(requested, want) {
		t.Errorf("requested %q", requested)
	}
	if !*got.EndpointReachable || *got.ClockOffsetMilliseconds != -1500 || !got.APIServer.Ready || got.APIServer.Version != "v1.35.4" {
		t.Errorf("got %+v", got)
	}
	gather(fakeAPI{codes: map[string]int{"/readyz": 500}})
	if *got.EndpointReachable || got.APIServer.Ready || got.APIServer.Version != "" {
		t.Errorf("API server not ready: %+v", got)
	}
	gather(fakeAPI{})
	if *got.EndpointReachable || got.APIServer.Ready {
		t.Errorf("API server unreachable: %+v", got)
	}
}

// admin.conf and kubelet.conf of a control plane node may have its own API server.
func TestEndpointOfTheClusterConfigurationIsProbed(t *testing.T) {
	const config = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.35.4\n"
	for situation, tt := range map[string]struct {
		endpoint, want string
		unreadable     bool
	}{
		"an address":            {endpoint: "10.0.0.100:8443", want: "https://10.0.0.100:8443/readyz"},
		"a name without a port": {endpoint: "api.example.com", want: "https://api.example.com:6443/readyz"},
		"IPv6 without a port":   {endpoint: "'[fd00::100]'", want: "https://[fd00::100]:6443/readyz"},
		"none":                  {want: "https://10.0.0.1:6443/readyz"},
		"it cannot be read":     {unreadable: true, want: "https://10.0.0.1:6443/readyz"},
		"an empty one":          {endpoint: "''", want: "https://10.0.0.1:6443/readyz"},
	} {
		t.Run(situation, func(t *testing.T) {
			s := rooted(t, map[string]string{
				"/etc/kubernetes/manifests/kube-apiserver.yaml": podOf("kube-apiserver", ""),
				"/etc/kubernetes/admin.conf":                    "apiVersion: v1\nkind: Config\ncurrent-context: x\nclusters: [{name: c, cluster: {server: 'https://10.0.0.1:6443'}}]\ncontexts: [{name: x, context: {cluster: c}}]\n",
			})
			var requested []string
			api := fakeAPI{codes: map[string]int{"/readyz": 200}, requested: &requested}
			if !tt.unreadable {
				text := config
				if tt.endpoint != "" {
					text += "controlPlaneEndpoint: " + tt.endpoint + "\n"
				}
				api.config = map[string]string{"ClusterConfiguration": text}
			}
			s.API = api
			_, err := endpoint(t.Context(), s)
			must(t, err)
			if !slices.Equal(requested, []string{tt.want}) {
				t.Errorf("requested %q, want %q", requested, tt.want)
			}
		})
	}
}

// controlPlane returns sources on a control plane host.
func controlPlane(t *testing.T) *Sources {
	t.Helper()
	s := rooted(t, map[string]string{"/etc/kubernetes/manifests/kube-apiserver.yaml": podOf("kube-apiserver", "")})
	s.Cache = NewCache()
	return s
}

// The API may be unreachable because of the endpoint: the API server of the host would hide that.
func TestEndpointIsReadOnceInSomeMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := controlPlane(t)
		var requested []string
		reads := 0
		api := fakeAPI{codes: map[string]int{"/readyz": 200}, requested: &requested, reads: &reads, config: map[string]string{
			"ClusterConfiguration": "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.35.4\ncontrolPlaneEndpoint: vip:6443\n",
		}}
		for _, tt := range []struct {
			pause time.Duration
			down  bool
			reads int
		}{{0, false, 1}, {endpointConfigAge - time.Second, false, 1}, {time.Second, false, 2}, {endpointConfigAge, true, 3}} {
			time.Sleep(tt.pause)
			if s.API = api; tt.down {
				down := api
				down.config = nil
				s.API = down
			}
			requested = nil
			_, err := endpoint(t.Context(), s)
			must(t, err)
			if reads != tt.reads || !slices.Equal(requested, []string{"https://vip:6443/readyz"}) {
				t.Errorf("after %s: %d reads, requested %q", tt.pause, reads, requested)
			}
		}
	})
}

func TestReadingTheEndpointLeavesTimeForItsProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := controlPlane(t)
		var requested []string
		s.API = fakeAPI{codes: map[string]int{"/readyz": 200}, requested: &requested, hangs: true}
		ctx, cancel := context.WithTimeout(t.Context(), readTimeout)
		defer cancel()
		started := time.Now()
		write, err := endpoint(ctx, s)
		must(t, err)
		var got refitv1alpha1.NodeReportStatus
		if write(&got); !*got.EndpointReachable || time.Since(started) != endpointConfigTimeout {
			t.Errorf("reachable: %t after %s and %q", *got.EndpointReachable, time.Since(started), requested)
		}
	})
}

func TestEndpointIsUnknownIfTheContextEndsFirst(t *testing.T) {
	s := rooted(t, nil)
	var requested []string
	s.API = fakeAPI{requested: &requested}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if write, err := endpoint(ctx, s); write != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("it reports the endpoint (%v)", err)
	}
}

// A single probe may fail under high load, which must not block an upgrade.
func TestEndpointIsUnreachableAfterRepeatedProbes(t *testing.T) {
	for failures, want := range map[int]bool{0: true, 2: true, 3: false} {
		s := rooted(t, nil)
		var requested []string
		s.API = fakeAPI{codes: map[string]int{"/readyz": 200}, requested: &requested, silent: &failures}
		write, err := endpoint(t.Context(), s)
		must(t, err)
		var got refitv1alpha1.NodeReportStatus
		if write(&got); *got.EndpointReachable != want {
			t.Errorf("reachable: %t after %q", *got.EndpointReachable, requested)
		}
	}
}

func TestVersionIsCachedUntilTheFileChanges(t *testing.T) {
	file := filepath.Join(t.TempDir(), "binary")
	must(t, os.WriteFile(file, []byte("1"), 0o700))
	cache, requested := NewCache(), 0
	ask := func() (string, error) { requested++; return strconv.Itoa(requested), nil }
	for _, want := range []string{"1", "1"} {
		if got, err := cache.version(file, ask); err != nil || got != want {
			t.Errorf("got %q (%v)", got, err)
		}
	}
	must(t, os.WriteFile(file, []byte("22"), 0o700))
	if got, _ := cache.version(file, ask); got != "2" {
		t.Errorf("of another binary: %q", got)
	}
	failing := func() (string, error) { return "", errors.New("no") }
	must(t, os.WriteFile(file, []byte("333"), 0o700))
	if _, err := cache.version(file, failing); err == nil {
		t.Error("want the error")
	}
	if got, _ := cache.version(file, ask); got != "3" {
		t.Errorf("after a failure: %q", got)
	}
	var none *Cache
	if got, _ := none.version(file, ask); got != "4" {
		t.Errorf("without a cache: %q", got)
	}
}

func TestDiskSpaceIsRounded(t *testing.T) {
	for mib, want := range map[int64]int64{0: 0, 15: 0, 100: 96, 4095: 4080, 4097: 4096, 5000: 4864} {
		if got := rounded(mib); got != want {
			t.Errorf("%d MiB rounds to %d", mib, got)
		}
	}
}
