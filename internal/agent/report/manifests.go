package report

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
)

// largestManifest is the limit for the size of a manifest.
const largestManifest = 1 << 20

func drift(ctx context.Context, s *Sources) (func(*refitv1alpha1.NodeReportStatus), error) {
	facts := &refitv1alpha1.DriftFacts{}
	onDisk, err := s.readManifests(facts)
	if err != nil {
		return nil, err
	}
	if s.controlPlane() {
		facts.MissingManifests = s.missingManifests(ctx, onDisk)
		var found differences
		found, facts.Known, err = s.differences(ctx, onDisk)
		facts.Differences, facts.SecuritySettings = found.all, found.security
	} else {
		facts.Known = true // kubeadm renders no manifests for a worker
	}
	return func(to *refitv1alpha1.NodeReportStatus) { to.Drift = facts }, err
}

// readManifests reads every file that the kubelet reads, and returns those of kubeadm by component.
func (s *Sources) readManifests(facts *refitv1alpha1.DriftFacts) (map[string][]byte, error) {
	entries, err := os.ReadDir(s.path(manifestsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	found := map[string][]byte{}
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasPrefix(name, ".") || entry.IsDir() {
			continue
		}
		text, err := readSmall(filepath.Join(s.path(manifestsDir), name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var read kubeadm.Manifest
		if err == nil {
			read, err = kubeadm.Parse(text)
		}
		if err != nil || read.Pod == nil {
			facts.UnparsableManifests = append(facts.UnparsableManifests, name)
			continue
		}
		if what := references(read.Pod); what != "" {
			facts.APIReferences = append(facts.APIReferences, read.Pod.Name+": "+what)
		}
		if component := strings.TrimSuffix(name, ".yaml"); slices.Contains(kubeadm.Components(), component) {
			found[component] = text
		}
	}
	return found, nil
}

func readSmall(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > largestManifest {
		return nil, fmt.Errorf("%s is not a manifest", path)
	}
	return os.ReadFile(path)
}

// references returns the API object that a static pod references, or an empty string. Static pods
// must not reference any.
func references(pod *corev1.Pod) string {
	if pod.Spec.ServiceAccountName != "" {
		return "ServiceAccount " + pod.Spec.ServiceAccountName
	}
	if len(pod.Spec.ResourceClaims) > 0 {
		return "ResourceClaim " + pod.Spec.ResourceClaims[0].Name
	}
	for _, v := range pod.Spec.Volumes {
		if what := volumeReference(&v); what != "" {
			return what
		}
	}
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		for _, from := range c.EnvFrom {
			if from.SecretRef != nil || from.ConfigMapRef != nil {
				return "environment of " + c.Name
			}
		}
		for _, env := range c.Env {
			if env.ValueFrom != nil && (env.ValueFrom.SecretKeyRef != nil || env.ValueFrom.ConfigMapKeyRef != nil) {
				return "environment variable " + env.Name
			}
		}
	}
	if len(pod.Spec.ImagePullSecrets) > 0 {
		return "Secret " + pod.Spec.ImagePullSecrets[0].Name
	}
	return ""
}

// volumeReference returns the API object that a volume references, or an empty string.
func volumeReference(v *corev1.Volume) string {
	switch {
	case v.Secret != nil:
		return "Secret " + v.Secret.SecretName
	case v.ConfigMap != nil:
		return "ConfigMap " + v.ConfigMap.Name
	case v.PersistentVolumeClaim != nil:
		return "PersistentVolumeClaim " + v.PersistentVolumeClaim.ClaimName
	case v.Ephemeral != nil:
		return "ephemeral volume " + v.Name
	case v.CSI != nil:
		return "CSI volume " + v.Name
	case v.AzureFile != nil:
		return "Secret " + v.AzureFile.SecretName
	case v.Glusterfs != nil:
		return "Endpoints " + v.Glusterfs.EndpointsName
	case v.Projected != nil && slices.ContainsFunc(v.Projected.Sources, needsAPI):
		return "projected volume " + v.Name
	}
	return ""
}

// needsAPI reports whether a source of a projected volume is an API object other than the pod.
func needsAPI(s corev1.VolumeProjection) bool { return s.DownwardAPI == nil }

// missingManifests returns the components without a manifest that a control plane node needs. etcd
// is missing only if its data is on this host.
func (s *Sources) missingManifests(ctx context.Context, onDisk map[string][]byte) []string {
	var missing []string
	for _, component := range kubeadm.Components() {
		if _, has := onDisk[component]; has || (component == kubeadm.Etcd && !s.etcdHere(ctx)) {
			continue
		}
		missing = append(missing, component)
	}
	return missing
}

func (s *Sources) etcdHere(ctx context.Context) bool {
	if config, err := clusterConfig(ctx, s.API); err == nil && config.ExternalEtcd {
		return false
	}
	return s.exists(etcdDir + "/member")
}

func clusterConfig(ctx context.Context, api API) (*kubeadm.ClusterConfig, error) {
	if api == nil {
		return nil, errors.New("the API is unavailable")
	}
	data, err := api.KubeadmConfig(ctx)
	if err != nil {
		return nil, err
	}
	return kubeadm.ReadClusterConfig(data)
}

// differences compares the manifests with those that the host's own kubeadm renders, if its minor
// version matches the control plane: others have other defaults. Otherwise the result is unknown.
func (s *Sources) differences(ctx context.Context, onDisk map[string][]byte) (found differences, known bool, err error) {
	apiServer, has := onDisk[kubeadm.APIServer]
	if !has {
		return found, false, nil
	}
	read, err := kubeadm.Parse(apiServer)
	if err != nil {
		return found, false, nil //nolint:nilerr // reported as unparsable
	}
	binary, err := host.LookPath("kubeadm")
	if err != nil {
		return found, false, nil //nolint:nilerr // nothing to compare with
	}
	version, err := s.version(ctx, binary, "version", "-o", "short")
	if err != nil || minorOf(version) != minorOf(read.Version()) {
		return found, false, err
	}
	if s.API == nil {
		return found, false, nil
	}
	data, err := s.API.KubeadmConfig(ctx)
	if err != nil {
		return found, false, err
	}
	key := driftKey(onDisk, data, version, s.Settings.Kubeadm.Patches)
	if found, known := s.Cache.knownDrift(key); known {
		return found, true, nil
	}
	rendered, err := s.render(ctx, binary, data, read, apiServer)
	if err != nil {
		return found, false, err
	}
	found = differences{all: kubeadm.Drift(onDisk, rendered), security: kubeadm.LostSecurity(onDisk, rendered)}
	s.Cache.keepDrift(key, found)
	return found, true, nil
}

func (s *Sources) render(ctx context.Context, binary string, data map[string]string, read kubeadm.Manifest, apiServer []byte) (kubeadm.Rendered, error) {
	config, err := kubeadm.ReadClusterConfig(data)
	if err != nil {
		return nil, err
	}
	address, port, err := kubeadm.LocalEndpoint(apiServer)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "refit-report-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	k := kubeadm.Kubeadm{
		Path: binary, Admin: s.path(adminConf), Dir: dir,
		Patches: s.Settings.Kubeadm.Patches, IgnorePreflight: s.Settings.Kubeadm.IgnorePreflightErrors,
	}
	return k.Render(ctx, kubeadm.RenderInput{
		Config: config, To: read.Version(), NodeName: s.NodeName, AdvertiseAddress: address, BindPort: port, CRISocket: s.criSocket(),
	})
}

// driftKey changes with everything that the comparison depends on. The patches directory counts by
// its names and times, not by its content.
func driftKey(onDisk map[string][]byte, data map[string]string, version, patches string) string {
	sum := sha256.New()
	for _, component := range slices.Sorted(maps.Keys(onDisk)) {
		fmt.Fprintf(sum, "%s %d\n%s", component, len(onDisk[component]), onDisk[component])
	}
	for _, name := range slices.Sorted(maps.Keys(data)) {
		fmt.Fprintf(sum, "%s %d\n%s", name, len(data[name]), data[name])
	}
	fmt.Fprintln(sum, version, patches)
	if patches != "" {
		entries, _ := os.ReadDir(patches)
		for _, entry := range entries {
			if info, err := entry.Info(); err == nil {
				fmt.Fprintln(sum, info.Name(), info.Size(), info.ModTime().UnixNano())
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// minorOf returns 1.36 for v1.36.3.
func minorOf(version string) string {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(parts) < 2 {
		return version
	}
	return parts[0] + "." + parts[1]
}
