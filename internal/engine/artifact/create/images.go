package create

import (
	"context"
	"fmt"
	"maps"
	"os/exec"
	"runtime"
	"strings"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// component is an image that kubeadm requires.
type component struct {
	name         string
	controlPlane bool
}

var components = []component{
	{"kube-apiserver", true},
	{"kube-controller-manager", true},
	{"kube-scheduler", true},
	{"etcd", true},
	{"kube-proxy", false},
	{"coredns", false}, // it may be scheduled on any node
	{"pause", false},
}

// listTimeout is the timeout of a kubeadm that lists its images.
const listTimeout = 30 * time.Second

// chooseTags finds the tags of the images that kubeadm of the version requires: as kubeadm lists
// them, else from the facts about its release.
func (m *builder) chooseTags(ctx context.Context) error {
	m.tags = map[string]string{}
	for _, name := range kubernetesImages() {
		m.tags[name] = m.Kubernetes
	}
	given := map[string]string{"etcd": m.Etcd, "coredns": m.CoreDNS, "pause": m.Pause}
	if given["etcd"] == "" || given["coredns"] == "" || given["pause"] == "" {
		maps.Copy(m.tags, m.tagsOfKubeadm(ctx))
		if m.tags["etcd"] == "" {
			if err := m.tagsOfFacts(); err != nil {
				return err
			}
		}
	}
	for name, tag := range given {
		if tag != "" {
			m.tags[name] = tag
		}
	}
	for name, claim := range map[string]*string{"etcd": &m.payload.Etcd, "coredns": &m.payload.CoreDNS, "pause": &m.payload.Pause} {
		if !m.without(name) {
			*claim = m.tags[name]
		}
	}
	return nil
}

func kubernetesImages() []string {
	return []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy"}
}

// tagsOfKubeadm runs a selected kubeadm, if one runs on this host. It does not download one.
func (m *builder) tagsOfKubeadm(ctx context.Context) map[string]string {
	for _, f := range m.files {
		if f.file.Name != "kubeadm" || f.file.Digest == "" || f.file.Kind != refitv1alpha1.PackageBinary ||
			f.file.OS != runtime.GOOS || f.file.Arch != runtime.GOARCH {
			continue
		}
		tags, err := imagesList(ctx, f.full, m.Kubernetes)
		if err != nil {
			m.warn("cannot list the images of %s: %v", f.path, err)
		}
		return tags
	}
	return nil
}

func imagesList(ctx context.Context, kubeadm, version string) (map[string]string, error) {
	binary, remove, err := runnable(kubeadm)
	if err != nil {
		return nil, err
	}
	defer remove()
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "config", "images", "list", "--kubernetes-version", version)
	cmd.Env, cmd.Dir, cmd.WaitDelay = []string{"PATH=/usr/bin:/bin", "LANG=C", "HOME=/nonexistent"}, "/", 10*time.Second
	output, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for line := range strings.Lines(string(output)) {
		if name, tag := artifact.SplitImage(strings.TrimSpace(line)); tag != "" {
			out[name] = tag
		}
	}
	return out, nil
}

// tagsOfFacts uses the facts about the minor version. Patch releases sometimes change these tags.
func (m *builder) tagsOfFacts() error {
	version, err := skew.Parse(m.Kubernetes)
	if err != nil {
		return err
	}
	facts, known := kubefacts.For(version.MinorString())
	if !known {
		return fmt.Errorf("the tags of etcd, CoreDNS and pause of %s are unknown: set --etcd, --coredns and --pause, or add a kubeadm that runs on this host",
			m.Kubernetes)
	}
	if facts.Version != m.Kubernetes {
		m.warn("etcd %s, CoreDNS %s and pause %s are those of %s: if kubeadm %s requires others, set --etcd, --coredns and --pause",
			facts.Etcd, facts.CoreDNS, facts.Pause, facts.Version, m.Kubernetes)
	}
	m.tags["etcd"], m.tags["coredns"], m.tags["pause"] = facts.Etcd, facts.CoreDNS, facts.Pause
	return nil
}

// takeImages selects the images of the folders that kubeadm requires.
func (m *builder) takeImages(context.Context) error {
	blobs := map[string]refitv1alpha1.Blob{} // an archive can contain several images
	taken := map[string]*found{}
	for _, f := range m.images {
		if full, err := FullName(f.image.Name); err == nil && m.needs(full) {
			f.image.Name = full
		}
		c, why := m.selectImage(f.image)
		if why != "" {
			m.skip(f.path, why)
			continue
		}
		key := f.image.Arch + " " + f.image.Name
		if other := taken[key]; other != nil {
			if other.image.Config != f.image.Config {
				return fmt.Errorf("found two different images %s: %s and %s", f.image.Name, other.full, f.full)
			}
			continue
		}
		taken[key] = f
		if _, read := blobs[f.full]; !read {
			m.doing(f.path)
			blob, err := f.blob()
			if err != nil {
				return err
			}
			blobs[f.full] = blob
		}
		blob := blobs[f.full]
		f.image.Archive, f.image.ControlPlane = &blob, c.controlPlane
		m.payload.Images = append(m.payload.Images, f.image)
	}
	return nil
}

func (m *builder) selectImage(image refitv1alpha1.ReleaseImage) (c component, why string) {
	if m.needs(image.Name) {
		return component{name: image.Name}, ""
	}
	name, tag := artifact.SplitImage(image.Name)
	for _, c := range components {
		switch {
		case c.name != name:
			continue
		case m.without(name):
			return c, excluded
		case tag != m.tags[name]:
			return c, otherVersion
		}
		return c, ""
	}
	return c, otherImage
}
