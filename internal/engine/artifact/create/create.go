package create

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
)

// making is a payload in the making.
type making struct {
	Options
	payload refitv1alpha1.ReleasePayload
	tags    map[string]string // of kubeadm's images that are wanted, by their names
	skipped map[string]*Skipped
	order   []string // of skipped
	result  Result

	programs []*found // what was found, before anything of it was chosen
	images   []*found
}

// Payload makes the payload of a ClusterRelease.
func Payload(ctx context.Context, o Options) (Result, error) {
	if err := o.check(); err != nil {
		return Result{}, err
	}
	m := &making{Options: o, payload: refitv1alpha1.ReleasePayload{Kubernetes: o.Kubernetes}, skipped: map[string]*Skipped{}}
	if err := artifact.ValidatePayload(m.payload); err != nil {
		return Result{}, WrongOptionError{err}
	}
	for _, step := range []func(context.Context) error{
		m.look,       // what is in the folders
		m.choose,     // which programs and packages belong to the version
		m.chooseTags, // which images kubeadm wants
		m.takeImages, // from the folders
		m.online,     // what is missing, from upstream
		m.missing,    // what is missing still
		m.finish,     // in an order that does not depend on how it was found
	} {
		if err := step(ctx); err != nil {
			return Result{}, err
		}
	}
	return m.result, nil
}

func (m *making) finish(context.Context) error {
	slices.SortFunc(m.payload.Files, func(a, b refitv1alpha1.ReleaseFile) int {
		return strings.Compare(a.Arch+" "+string(a.Kind)+" "+string(a.Part)+" "+a.Name, b.Arch+" "+string(b.Kind)+" "+string(b.Part)+" "+b.Name)
	})
	slices.SortFunc(m.payload.Images, func(a, b refitv1alpha1.ReleaseImage) int {
		return strings.Compare(a.Arch+" "+a.Name, b.Arch+" "+b.Name)
	})
	for _, why := range m.order {
		m.result.Skipped = append(m.result.Skipped, *m.skipped[why])
	}
	m.result.Payload = m.payload
	if err := artifact.ValidatePayload(m.payload); err != nil {
		return fmt.Errorf("what was found makes no ClusterRelease: %w", err)
	}
	return nil
}

func (m *making) skip(path, why string) {
	if m.skipped[why] == nil {
		m.skipped[why] = &Skipped{Why: why, First: path}
		m.order = append(m.order, why)
	}
	m.skipped[why].Count++
}

func (m *making) warn(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(m.result.Warnings, text) {
		m.result.Warnings = append(m.result.Warnings, text)
	}
}

// missing refuses a ClusterRelease that a kubeadm host could not be upgraded with.
func (m *making) missing(context.Context) error {
	var lacks []string
	archs := map[string]bool{}
	for _, kind := range []refitv1alpha1.PackageKind{refitv1alpha1.PackageBinary, refitv1alpha1.PackageDeb} {
		for arch, names := range m.namesOf(kind) {
			lacks = append(lacks, m.lacking(kind, arch, names)...)
			if names["kubelet"] {
				archs[arch] = true
			}
		}
	}
	if len(archs) == 0 {
		return fmt.Errorf("there is no kubeadm and no kubelet of %s%s", m.Kubernetes, m.seen())
	}
	for arch := range archs {
		for _, c := range components {
			if !m.without(c.name) && !m.hasImage(c.name, arch) {
				lacks = append(lacks, fmt.Sprintf("the image %s:%s for %s", c.name, m.tags[c.name], arch))
			}
		}
	}
	if len(lacks) == 0 {
		return nil
	}
	slices.Sort(lacks)
	return errors.New("a host could not be upgraded with it; it lacks " + strings.Join(lacks, ", "))
}

// lacking is what belongs to a set of files of one kind and platform, and is not among them.
func (m *making) lacking(kind refitv1alpha1.PackageKind, arch string, names map[string]bool) []string {
	var needs []string
	if names["kubeadm"] || names["kubelet"] || names["kubectl"] {
		needs = append(needs, "kubeadm", "kubelet")
		if !m.without("kubectl") {
			needs = append(needs, "kubectl")
		}
	}
	if kind == refitv1alpha1.PackageBinary && (names["containerd"] || names["ctr"] || names["containerd-shim-runc-v2"]) {
		needs = append(needs, "containerd", "containerd-shim-runc-v2")
	}
	var out []string
	for _, name := range needs {
		if !names[name] {
			out = append(out, fmt.Sprintf("%s for %s (%s)", name, arch, kind))
		}
	}
	return out
}

// namesOf is the names of the files of a kind, by their platform.
func (m *making) namesOf(kind refitv1alpha1.PackageKind) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for _, file := range m.payload.Files {
		if file.Kind != kind {
			continue
		}
		if out[file.Arch] == nil {
			out[file.Arch] = map[string]bool{}
		}
		out[file.Arch][file.Name] = true
	}
	return out
}

func (m *making) hasImage(name, arch string) bool {
	return slices.ContainsFunc(m.payload.Images, func(i refitv1alpha1.ReleaseImage) bool {
		its, _ := artifact.SplitImage(i.Name)
		return its == name && i.Arch == arch
	})
}

// seen tells which versions of Kubernetes were found instead.
func (m *making) seen() string {
	var versions []string
	for _, f := range m.programs {
		if f.file.Part == refitv1alpha1.PartKubelet && !slices.Contains(versions, f.file.Version) {
			versions = append(versions, f.file.Version)
		}
	}
	if len(versions) == 0 {
		return ""
	}
	slices.Sort(versions)
	return "; found " + strings.Join(versions, ", ")
}
