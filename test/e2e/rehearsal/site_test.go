//go:build e2e

package rehearsal

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

const (
	backupFile = "/root/backup.db"
	pki        = "/etc/kubernetes/pki/etcd/"
)

// site is a control plane node with the manifests of the target versions and a backup of its etcd.
type site struct {
	*bed.Bed

	cp      *cluster.Node
	targets []string
}

// result is the output of `refit-agent rehearse`.
type result struct {
	Figures figures
	Hops    []struct {
		Findings []finding
		Report   struct {
			Listed  int   `json:"listed"`
			Objects int64 `json:"objects"`
			Skipped []string
		}
		Took    time.Duration
		LogTail string
	}
	Took time.Duration
}

type figures struct {
	Revision        int64  `json:"revision,omitempty"`
	Keys            int64  `json:"keys,omitempty"`
	Hash            uint32 `json:"hash,omitempty"`
	HashKV          uint32 `json:"hashKV,omitempty"`
	HashRevision    int64  `json:"hashRevision,omitempty"`
	CompactRevision int64  `json:"compactRevision,omitempty"`
}

type finding struct {
	Reason, Object, Message, Remedy string
	Unknown                         bool
}

// newSite creates a control plane node of the older version, with the manifests of the targets.
func newSite(t *testing.T, name string, targets ...string) *site {
	t.Helper()
	b := bed.New(t, cluster.Spec{Name: name, Kubernetes: bed.Older})
	s := &site{Bed: b, cp: b.First(cluster.RoleControlPlane), targets: targets}
	ctx := t.Context()
	bed.Must(t, s.cp.CopyTo(ctx, b.Agent, bed.AgentBinary))
	for _, version := range targets {
		bed.Must(t, b.LoadRelease(ctx, version))
		parts, err := b.Release(ctx, version)
		bed.Must(t, err)
		bed.Must(t, s.cp.CopyTo(ctx, filepath.Join(parts.Bin, "kubeadm"), "/root/kubeadm"))
		bed.Must(t, s.cp.CopyTo(ctx, filepath.Join(parts.EtcdBin, "etcdctl"), "/root/etcdctl"))
		s.render(t, version)
	}
	s.backUp(t)
	return s
}

// render renders the manifests of a target with its kubeadm.
func (s *site) render(t *testing.T, version string) {
	t.Helper()
	config, err := s.Kubectl(t.Context(), nil, "--namespace=kube-system", "get", "configmap", "kubeadm-config", "--output=jsonpath={.data.ClusterConfiguration}")
	bed.Must(t, err)
	text := strings.ReplaceAll(string(config), "kubernetesVersion: "+bed.Older, "kubernetesVersion: "+version) + fmt.Sprintf(`
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
localAPIEndpoint: {advertiseAddress: %s, bindPort: 6443}
nodeRegistration: {name: %s}
`, s.cp.Address(), s.cp.Name())
	bed.Must(t, bed.WriteOn(t.Context(), s.cp, "/root/init.yaml", text))
	s.exec(t, "mkdir", "-p", rendered(version, ""), filed(version, ""))
	for _, phase := range []string{"control-plane all", "etcd local"} {
		argv := append([]string{"env", "KUBEADM_INIT_DRYRUN_DIR=" + rendered(version, ""), "/root/kubeadm", "init", "phase"}, strings.Fields(phase)...)
		s.exec(t, append(argv, "--config=/root/init.yaml", "--dry-run")...)
	}
}

// rendered is a file that kubeadm rendered for a version, and filed its copy in a rehearsal.
func rendered(version, file string) string { return filepath.Join("/root/rendered", version, file) }
func filed(version, file string) string    { return filepath.Join("/root/filed", version, file) }

// backUp takes a backup with etcdctl.
func (s *site) backUp(t *testing.T) {
	t.Helper()
	s.exec(t, "rm", "-f", backupFile)
	s.etcdctl(t, "snapshot", "save", backupFile)
}

func (s *site) etcdctl(t *testing.T, args ...string) string {
	t.Helper()
	return s.exec(t, append([]string{
		"/root/etcdctl", "--endpoints=https://127.0.0.1:2379", "--cacert=" + pki + "ca.crt", "--cert=" + pki + "server.crt", "--key=" + pki + "server.key",
	}, args...)...)
}

func (s *site) exec(t *testing.T, argv ...string) string {
	t.Helper()
	out, err := s.cp.Exec(t.Context(), argv...)
	bed.Must(t, err)
	return string(out)
}

// rehearse runs a rehearsal with the rendered manifests, of which some words are replaced.
func (s *site) rehearse(t *testing.T, replace ...string) (result, error) {
	t.Helper()
	for _, version := range s.targets {
		for _, file := range []string{"kube-apiserver.yaml", "etcd.yaml"} {
			text, err := bed.ReadOn(t.Context(), s.cp, rendered(version, file))
			bed.Must(t, err)
			bed.Must(t, bed.WriteOn(t.Context(), s.cp, filed(version, file), strings.NewReplacer(replace...).Replace(text)))
		}
	}
	return s.run(t, figures{}, true)
}

// run runs a drill, and a rehearsal after it.
func (s *site) run(t *testing.T, expected figures, rehearse bool) (result, error) {
	t.Helper()
	request := map[string]any{
		"backup":              map[string]any{"file": backupFile, "etcdImage": s.imageIn(t, "/etc/kubernetes/manifests/etcd.yaml"), "expected": expected},
		"readyTimeoutSeconds": 45,
	}
	var hops []any
	for _, version := range s.targets {
		if rehearse {
			hops = append(hops, map[string]any{
				"version": version, "etcdImage": s.imageIn(t, rendered(version, "etcd.yaml")),
				"etcd": filed(version, "etcd.yaml"), "apiServer": filed(version, "kube-apiserver.yaml"),
			})
		}
	}
	request["hops"] = hops
	text, err := json.Marshal(request)
	bed.Must(t, err)
	bed.Must(t, bed.WriteOn(t.Context(), s.cp, "/root/request.json", string(text)))
	out, err := s.cp.Exec(t.Context(), bed.AgentBinary, "rehearse", "/root/request.json")
	if err != nil {
		return result{}, err
	}
	var r result
	err = json.Unmarshal(out, &r)
	return r, err
}

// imageIn returns the image in a manifest.
func (s *site) imageIn(t *testing.T, file string) string {
	t.Helper()
	text, err := bed.ReadOn(t.Context(), s.cp, file)
	bed.Must(t, err)
	_, image, found := strings.Cut(text, "image: ")
	if !found {
		t.Fatalf("%s has no image", file)
	}
	return strings.Fields(image)[0]
}

// nothingLeft fails the test if a rehearsal has left something on the node.
func (s *site) nothingLeft(t *testing.T) {
	t.Helper()
	if err := bed.RehearsalLeft(t.Context(), s.cp); err != nil {
		t.Error(err)
	}
}
