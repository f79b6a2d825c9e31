package node

import (
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// Parts lists the parts of a host in the order in which an upgrade surveys them.
func Parts() []refitv1alpha1.Part {
	return []refitv1alpha1.Part{
		refitv1alpha1.PartKubeadm, refitv1alpha1.PartKubelet, refitv1alpha1.PartKubectl,
		refitv1alpha1.PartContainerd, refitv1alpha1.PartRunc, refitv1alpha1.PartCNI,
	}
}

// Required reports whether every upgrade needs a part: the kubelet is what is upgraded, and kubeadm
// does it.
func Required(part refitv1alpha1.Part) bool {
	return part == refitv1alpha1.PartKubeadm || part == refitv1alpha1.PartKubelet
}

// Runs reports whether a host runs the version of an upgrade already, or a newer one, given the
// version of its API server, which a worker has none of. Only images of components can be missing
// on it.
func Runs(u *Upgrade, server string) bool {
	to, err := skew.Parse(u.To)
	if err != nil {
		return false
	}
	isAt := func(version string) bool {
		v, err := skew.Parse(version)
		return err == nil && !v.Before(to)
	}
	return isAt(u.From) && (!controlPlane(*u) || isAt(server))
}

// IsKubernetes reports whether a part has the version of Kubernetes, so that every upgrade replaces
// it.
func IsKubernetes(part refitv1alpha1.Part) bool {
	return Required(part) || part == refitv1alpha1.PartKubectl
}

// NeededParts returns the parts of a ClusterRelease that a host needs, each as it is installed
// there. A part that the host or the ClusterRelease does not have is left alone, except the
// required ones: a missing kubeadm is installed like the kubelet. So is a part of whose binaries
// the ClusterRelease has none.
func NeededParts(p refitv1alpha1.ReleasePayload, installed []refitv1alpha1.PartFacts) []refitv1alpha1.PartFacts {
	var out []refitv1alpha1.PartFacts
	for _, part := range Parts() {
		facts, has := installedPart(installed, part)
		included := slices.ContainsFunc(p.Files, func(f refitv1alpha1.ReleaseFile) bool {
			return f.Part == part && (f.Kind != facts.Kind || hasFile(facts, f.Name))
		})
		switch {
		case has && (included || Required(part)):
			out = append(out, facts)
		case Required(part):
			kubelet, _ := installedPart(installed, refitv1alpha1.PartKubelet)
			out = append(out, refitv1alpha1.PartFacts{Part: part, Kind: kubelet.Kind})
		}
	}
	return out
}

// DescribePart returns a part and how it is installed, as in "containerd of kind Deb
// (containerd.io)".
func DescribePart(part refitv1alpha1.PartFacts) string {
	text := string(part.Part) + " of kind " + string(part.Kind)
	if part.Package != "" && part.Package != string(part.Part) {
		text += " (" + part.Package + ")"
	}
	return text
}

func installedPart(installed []refitv1alpha1.PartFacts, part refitv1alpha1.Part) (refitv1alpha1.PartFacts, bool) {
	at := slices.IndexFunc(installed, func(f refitv1alpha1.PartFacts) bool { return f.Part == part })
	if at < 0 {
		return refitv1alpha1.PartFacts{}, false
	}
	return installed[at], true
}

// hasFile reports whether a host has a binary of a part. If it does not list them, it gets all.
func hasFile(part refitv1alpha1.PartFacts, name string) bool {
	return len(part.Files) == 0 || slices.Contains(part.Files, name)
}

// FilesOf returns the files of a ClusterRelease for a part of a host. A ClusterRelease may contain
// the packages of several vendors for one part, and more CNI plugins than a host has; a host gets
// those that it has.
func FilesOf(p refitv1alpha1.ReleasePayload, os, arch string, part refitv1alpha1.PartFacts) []refitv1alpha1.ReleaseFile {
	var out []refitv1alpha1.ReleaseFile
	for _, f := range p.Files {
		if f.Part != part.Part || f.OS != os || f.Arch != arch || f.Kind != part.Kind {
			continue
		}
		if (part.Package == "" || f.Name == part.Package) && hasFile(part, f.Name) {
			out = append(out, f)
		}
	}
	return out
}

// MissingParts describes the parts that a host needs and that a ClusterRelease has for other hosts
// only, or not at all.
func MissingParts(p refitv1alpha1.ReleasePayload, os, arch string, installed []refitv1alpha1.PartFacts) (out []string) {
	for _, part := range NeededParts(p, installed) {
		if len(FilesOf(p, os, arch, part)) == 0 {
			out = append(out, DescribePart(part))
		}
	}
	return out
}

// ImagesOf returns the images of a ClusterRelease that a host needs, and the names of those that it
// has for other platforms only, although their names are those of all platforms.
func ImagesOf(p refitv1alpha1.ReleasePayload, os, arch string, controlPlane bool) (images []refitv1alpha1.ReleaseImage, missing []string) {
	has := map[string]bool{}
	for _, image := range p.Images {
		if image.OS == os && image.Arch == arch && (controlPlane || !image.ControlPlane) {
			images, has[image.Name] = append(images, image), true
		}
	}
	for _, image := range p.Images {
		if (controlPlane || !image.ControlPlane) && !has[image.Name] && !namesArch(image) {
			missing, has[image.Name] = append(missing, image.Name), true
		}
	}
	return images, missing
}

// namesArch reports whether the reference of an image names its architecture, as pause-amd64:3.10
// does: it belongs to hosts of that platform alone. The name of a registry does not count.
func namesArch(image refitv1alpha1.ReleaseImage) bool {
	path := image.Name
	if registry, rest, is := strings.Cut(path, "/"); is && strings.ContainsAny(registry, ".:") {
		path = rest
	}
	words := strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune("/:@._-", r) })
	return slices.Contains(words, image.Arch)
}
