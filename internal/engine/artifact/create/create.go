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

// kinds are the kinds of files, binaries first: their versions have no revision.
var kinds = []refitv1alpha1.PackageKind{refitv1alpha1.PackageBinary, refitv1alpha1.PackageDeb, refitv1alpha1.PackageRpm}

// builder builds one payload.
type builder struct {
	Options
	payload refitv1alpha1.ReleasePayload
	tags    map[string]string // of the images that kubeadm requires, by name
	skipped map[string]*Skipped
	order   []string // of the reasons in skipped
	result  Result

	files  []*found // found in the folders
	images []*found
	proven map[string]bool // images of upstream, by name and digest
	// unconfirmed is content of upstream without a proof, and digests are the compiled ones, by
	// name, if a test replaces them.
	unconfirmed []unconfirmedError
	digests     map[string]string
}

// Payload creates the payload of a ClusterRelease. With an error, the result has only the skipped
// files and the warnings.
func Payload(ctx context.Context, o Options) (Result, error) {
	if err := o.check(); err != nil {
		return Result{}, err
	}
	m := &builder{
		Options: o, payload: refitv1alpha1.ReleasePayload{Kubernetes: o.Kubernetes, ClusterConfiguration: o.ClusterConfiguration},
		skipped: map[string]*Skipped{}, proven: map[string]bool{},
	}
	if err := artifact.ValidatePayload(m.payload); err != nil {
		return Result{}, WrongOptionError{err}
	}
	for _, step := range []func(context.Context) error{
		m.inspect,       // lists the files and images of the folders
		m.choose,        // selects the binaries and packages of the version
		m.chooseTags,    // finds the tags of the images that kubeadm requires
		m.takeImages,    // selects the images of the folders
		m.online,        // adds missing files and images from upstream
		m.checkComplete, // fails if something is still missing
		m.checkHosts,    // fails if a host of the cluster lacks its kind of a part
		m.finish,        // sorts the result
	} {
		if err := step(ctx); err != nil {
			return Result{Skipped: m.listSkipped(), Warnings: m.result.Warnings}, err
		}
	}
	return m.result, nil
}

func (m *builder) finish(context.Context) error {
	slices.SortFunc(m.payload.Files, func(a, b refitv1alpha1.ReleaseFile) int {
		return strings.Compare(a.Arch+" "+string(a.Kind)+" "+string(a.Part)+" "+a.Name, b.Arch+" "+string(b.Kind)+" "+string(b.Part)+" "+b.Name)
	})
	slices.SortFunc(m.payload.Images, func(a, b refitv1alpha1.ReleaseImage) int {
		return strings.Compare(a.Arch+" "+a.Name, b.Arch+" "+b.Name)
	})
	m.result.Skipped = m.listSkipped()
	m.result.Payload = m.payload
	if err := artifact.ValidatePayload(m.payload); err != nil {
		return fmt.Errorf("the files found do not make a valid ClusterRelease: %w", err)
	}
	return nil
}

func (m *builder) skip(path, why string) {
	if m.skipped[why] == nil {
		m.skipped[why] = &Skipped{Why: why, First: path}
		m.order = append(m.order, why)
	}
	m.skipped[why].Count++
}

func (m *builder) listSkipped() (out []Skipped) {
	for _, why := range m.order {
		out = append(out, *m.skipped[why])
	}
	return out
}

func (m *builder) warn(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(m.result.Warnings, text) {
		m.result.Warnings = append(m.result.Warnings, text)
	}
}

// checkComplete fails if the ClusterRelease is not sufficient to upgrade a kubeadm host.
func (m *builder) checkComplete(context.Context) error {
	var missing []string
	archs := map[string]bool{}
	for _, kind := range kinds {
		for arch, names := range m.namesOf(kind) {
			missing = append(missing, m.missingFiles(kind, arch, names)...)
			if names["kubelet"] {
				archs[arch] = true
			}
		}
	}
	if len(archs) == 0 {
		return m.noKubelet()
	}
	for arch := range archs {
		for _, c := range components {
			if !m.without(c.name) && !m.hasImage(c.name, arch) {
				missing = append(missing, fmt.Sprintf("image %s:%s for %s", c.name, m.tags[c.name], arch))
			}
		}
	}
	if err := m.checkNeeded(archs); err != nil && len(missing) == 0 {
		return err
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return errors.New("not sufficient to upgrade a host, missing: " + strings.Join(missing, ", "))
}

func (m *builder) noKubelet() error {
	missing := "no kubeadm and no kubelet"
	if slices.ContainsFunc(m.payload.Files, func(f refitv1alpha1.ReleaseFile) bool { return f.Name == "kubeadm" }) {
		missing = "no kubelet"
	}
	return fmt.Errorf("%s of %s found%s", missing, m.Kubernetes, m.foundKubernetes())
}

// missingFiles returns the files that a set of one kind and platform lacks.
func (m *builder) missingFiles(kind refitv1alpha1.PackageKind, arch string, names map[string]bool) []string {
	var needs []string
	if names["kubeadm"] || names["kubelet"] || names["kubectl"] {
		for _, part := range []refitv1alpha1.Part{refitv1alpha1.PartKubeadm, refitv1alpha1.PartKubelet, refitv1alpha1.PartKubectl} {
			if !m.without(string(part)) && (m.Online == nil || m.Online.PartKinds == nil || m.Online.has(part, kind)) {
				needs = append(needs, string(part))
			}
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

// namesOf returns the names of the files of a kind, by architecture.
func (m *builder) namesOf(kind refitv1alpha1.PackageKind) map[string]map[string]bool {
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

func (m *builder) hasImage(name, arch string) bool {
	return slices.ContainsFunc(m.payload.Images, func(i refitv1alpha1.ReleaseImage) bool {
		its, tag := artifact.SplitImage(i.Name) // a component may need another image of that name
		return its == name && tag == m.tags[name] && i.Arch == arch
	})
}

// foundKubernetes lists the versions of Kubernetes that were found instead.
func (m *builder) foundKubernetes() string {
	var versions []string
	for _, f := range m.files {
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
