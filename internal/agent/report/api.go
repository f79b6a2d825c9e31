package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/etcd"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
)

// clock measures how far the host's clock is ahead of the API server's.
func clock(ctx context.Context, s *Sources) (func(*refitv1alpha1.NodeReportStatus), error) {
	if s.API == nil {
		return nil, nil //nolint:nilnil // no facts
	}
	server, here, err := s.API.ServerTime(ctx)
	if err != nil {
		return nil, err
	}
	ahead := here.Sub(server).Milliseconds()
	return func(to *refitv1alpha1.NodeReportStatus) { to.ClockOffsetMilliseconds = &ahead }, nil
}

// The probe of the endpoint is repeated: a single one may fail under high load, or while the
// address moves to another node.
const (
	endpointProbes       = 3
	endpointProbeTimeout = 5 * time.Second
	endpointProbePause   = 2 * time.Second

	// The address of the endpoint hardly ever changes.
	endpointConfigTimeout = 5 * time.Second
	endpointConfigAge     = 5 * time.Minute
)

// endpoint probes the address that the whole cluster uses: the kubelet of a control plane node may
// use its local API server instead. If the context ends first, nothing is known about the endpoint.
func endpoint(ctx context.Context, s *Sources) (func(*refitv1alpha1.NodeReportStatus), error) {
	if s.API == nil {
		return nil, nil //nolint:nilnil // no facts
	}
	address, err := s.endpointURL(ctx)
	if err != nil {
		return nil, err
	}
	reachable := false
	for i := 0; i < endpointProbes && !reachable; i++ {
		if i > 0 {
			s.pause(ctx, endpointProbePause)
		}
		reachable = s.ready(ctx, address)
	}
	if err := context.Cause(ctx); err != nil && !reachable {
		return nil, fmt.Errorf("cannot probe the endpoint %s: %w", address, err)
	}
	return func(to *refitv1alpha1.NodeReportStatus) { to.EndpointReachable = &reachable }, nil
}

// endpointURL returns the URL of the endpoint that the ClusterConfiguration states. If it states
// none, or cannot be read, it is the server of admin.conf, which may be the API server of the host.
// A worker uses that of its kubelet.
func (s *Sources) endpointURL(ctx context.Context) (string, error) {
	if !s.controlPlane() { // a worker may reach the API through a proxy of its own only
		return s.API.Server()
	}
	stated := s.Cache.endpoint(time.Now(), func() (string, error) {
		ctx, cancel := context.WithTimeout(ctx, endpointConfigTimeout)
		defer cancel()
		config, err := clusterConfig(ctx, s.API)
		if err != nil {
			return "", err
		}
		return config.ControlPlaneEndpoint, nil
	})
	if stated != "" {
		return "https://" + withPort(stated), nil
	}
	if config, err := clientcmd.LoadFromFile(s.path(adminConf)); err == nil {
		if named, has := config.Contexts[config.CurrentContext]; has && config.Clusters[named.Cluster] != nil {
			return config.Clusters[named.Cluster].Server, nil
		}
	}
	return s.API.Server()
}

// withPort adds the default port, which kubeadm omits. An IPv6 address may have brackets.
func withPort(address string) string {
	if _, _, err := net.SplitHostPort(address); err == nil {
		return address
	}
	return net.JoinHostPort(strings.Trim(address, "[]"), "6443")
}

func (s *Sources) ready(ctx context.Context, server string) bool {
	ctx, cancel := context.WithTimeout(ctx, endpointProbeTimeout)
	defer cancel()
	code, _, err := s.API.Get(ctx, server, "/readyz")
	return err == nil && code == http.StatusOK
}

// pause waits, but not longer than the context.
func (s *Sources) pause(ctx context.Context, d time.Duration) {
	if s.noPauses {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func certs(_ context.Context, s *Sources) (func(*refitv1alpha1.NodeReportStatus), error) {
	server, _ := os.ReadFile(s.path(manifestsDir + "/kube-apiserver.yaml")) // a worker has none
	found, err := kubeadm.ReadCertificates(s.path(kubeadm.CertificatesDir(server)), s.path(kubernetesDir))
	if !s.controlPlane() {
		found = slices.DeleteFunc(found, func(c refitv1alpha1.CertificateFacts) bool { return !slices.Contains(workerCertificates, c.Name) })
	}
	return func(to *refitv1alpha1.NodeReportStatus) { to.Certificates = found }, err
}

// workerCertificates are the certificates that a worker uses. An old copy of another kubeconfig
// must not block an upgrade.
var workerCertificates = []string{"ca", "kubelet-client-current"}

// etcdFacts queries the etcd member of this host, or an external etcd. If a member should be there
// but does not respond, the facts are absent.
func etcdFacts(ctx context.Context, s *Sources) (func(*refitv1alpha1.NodeReportStatus), error) {
	text, err := os.ReadFile(s.path(manifestsDir + "/etcd.yaml"))
	if errors.Is(err, os.ErrNotExist) {
		return externalEtcdFacts(ctx, s)
	}
	if err != nil {
		return nil, err
	}
	config, err := etcd.ConfigFromManifest(text)
	if err != nil {
		return nil, err
	}
	client, err := etcd.Dial(config)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	facts, err := client.Facts(ctx)
	if err != nil {
		return nil, err
	}
	return func(to *refitv1alpha1.NodeReportStatus) { to.Etcd = facts }, nil
}

// externalEtcdFacts queries an external etcd with the client certificate of the API server.
func externalEtcdFacts(ctx context.Context, s *Sources) (func(*refitv1alpha1.NodeReportStatus), error) {
	text, err := os.ReadFile(s.path(manifestsDir + "/kube-apiserver.yaml"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil //nolint:nilnil // no API server runs here
	}
	if err != nil {
		return nil, err
	}
	config, err := etcd.ExternalConfigFromManifest(text)
	if err != nil {
		return nil, err
	}
	if external, err := HasExternalEtcd(ctx, s.API, config); err != nil || !external {
		return nil, err // without one, the manifest of etcd is missing
	}
	for _, file := range []*string{&config.CA, &config.Cert, &config.Key} {
		if *file != "" {
			*file = s.path(*file)
		}
	}
	facts, err := etcd.ExternalFacts(ctx, config)
	if err != nil {
		return nil, err
	}
	return func(to *refitv1alpha1.NodeReportStatus) { to.ExternalEtcd = facts }, nil
}

// HasExternalEtcd reports whether etcd is external, according to kubeadm's configuration. Without
// it, an API server that connects to another address than loopback has an external etcd. This is
// the rule for backups too: a cluster whose NodeReports have an external etcd must be backed up.
func HasExternalEtcd(ctx context.Context, api API, server etcd.Config) (bool, error) {
	found, err := clusterConfig(ctx, api)
	switch {
	case err == nil:
		return found.ExternalEtcd, nil
	case !server.OnLoopback():
		return true, nil
	}
	return false, err
}

// apiServerFacts queries the API server of this host at its own address.
func apiServerFacts(ctx context.Context, s *Sources) (func(*refitv1alpha1.NodeReportStatus), error) {
	text, err := os.ReadFile(s.path(manifestsDir + "/kube-apiserver.yaml"))
	if errors.Is(err, os.ErrNotExist) || s.API == nil {
		return nil, nil //nolint:nilnil // none runs here
	}
	if err != nil {
		return nil, err
	}
	address, port, err := kubeadm.LocalEndpoint(text)
	if err != nil {
		return nil, err
	}
	server := "https://" + net.JoinHostPort(address, strconv.Itoa(port))
	facts := &refitv1alpha1.APIServerFacts{}
	code, _, err := s.API.Get(ctx, server, "/readyz")
	facts.Ready = err == nil && code == http.StatusOK
	var version struct{ GitVersion string }
	if code, body, err := s.API.Get(ctx, server, "/version"); err == nil && code == http.StatusOK && json.Unmarshal(body, &version) == nil {
		facts.Version = version.GitVersion
	}
	return func(to *refitv1alpha1.NodeReportStatus) { to.APIServer = facts }, nil
}
