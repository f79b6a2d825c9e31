package artifact

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/signedconfig"
)

// MaxBlob is the maximum size of a file of a ClusterRelease.
const MaxBlob = 4 << 30

// The limits of a ClusterRelease. The size of an envelope limits them, too, but a parser must not
// depend on that.
const (
	maxFiles  = 2000
	maxImages = 1000
	maxURLs   = 8
	maxText   = 512
)

var (
	kubernetesPattern = regexp.MustCompile(`^v1\.(0|[1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,3})$`)
	versionPattern    = regexp.MustCompile(`^v?[0-9]{1,6}\.[0-9]{1,6}(\.[0-9]{1,6})?([-+~][A-Za-z0-9][A-Za-z0-9.+~-]{0,63})?$`)
	packagePattern    = regexp.MustCompile(`^([0-9]{1,4}:)?[0-9][A-Za-z0-9.+~^_-]{0,127}$`)
	namePattern       = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$`)
	digestPattern     = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	imagePattern      = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*(:[0-9]{1,5})?(/[a-z0-9]+(([._]|__|-+)[a-z0-9]+)*)+:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)
	pathPattern       = regexp.MustCompile(`^[A-Za-z0-9._+~:@=,%/-]+$`)
)

// platforms are the platforms for which Kubernetes is published.
var platforms = []string{"linux/amd64", "linux/arm64", "linux/ppc64le", "linux/s390x"}

// ValidatePayload validates a payload: its values become paths, arguments and requests of a process
// that runs as root.
func ValidatePayload(p refitv1alpha1.ReleasePayload) error {
	if err := validateVersions(p); err != nil {
		return err
	}
	if len(p.Files) > maxFiles || len(p.Images) > maxImages {
		return fmt.Errorf("%d files and %d images are more than %d and %d", len(p.Files), len(p.Images), maxFiles, maxImages)
	}
	files, images := map[string]bool{}, map[string]bool{}
	sizes := map[string]int64{}
	for i, file := range p.Files {
		if err := validateFile(p, file, sizes); err != nil {
			return fmt.Errorf("files[%d]: %w", i, err)
		}
		key := platformOf(file.OS, file.Arch) + " " + string(file.Kind) + " " + file.Name
		if files[key] {
			return fmt.Errorf("files[%d]: duplicate %s for %s/%s, %s", i, file.Name, file.OS, file.Arch, file.Kind)
		}
		files[key] = true
	}
	for i, image := range p.Images {
		if err := validateImage(p, image, sizes); err != nil {
			return fmt.Errorf("images[%d]: %w", i, err)
		}
		key := platformOf(image.OS, image.Arch) + " " + image.Name
		if images[key] {
			return fmt.Errorf("images[%d]: duplicate %s for %s/%s", i, image.Name, image.OS, image.Arch)
		}
		images[key] = true
	}
	if err := signedconfig.Validate(p.ClusterConfiguration); err != nil {
		return fmt.Errorf("clusterConfiguration: %w", err)
	}
	return validateClaims(p)
}

func validateVersions(p refitv1alpha1.ReleasePayload) error {
	if !kubernetesPattern.MatchString(p.Kubernetes) {
		return fmt.Errorf("kubernetes: %q is not a version like v1.36.3", refitv1alpha1.Clip(p.Kubernetes, 40))
	}
	for _, v := range []struct{ name, version string }{
		{"etcd", p.Etcd}, {"containerd", p.Containerd}, {"runc", p.Runc}, {"cniPlugins", p.CNIPlugins}, {"coreDNS", p.CoreDNS}, {"pause", p.Pause},
	} {
		if v.version != "" && !versionPattern.MatchString(v.version) {
			return fmt.Errorf("%s: %q is not a version", v.name, refitv1alpha1.Clip(v.version, 40))
		}
	}
	return nil
}

// validateClaims refuses a version of a part that has no file.
func validateClaims(p refitv1alpha1.ReleasePayload) error {
	for _, claim := range []struct {
		part    refitv1alpha1.Part
		version string
	}{{refitv1alpha1.PartContainerd, p.Containerd}, {refitv1alpha1.PartRunc, p.Runc}, {refitv1alpha1.PartCNI, p.CNIPlugins}} {
		found := slices.ContainsFunc(p.Files, func(f refitv1alpha1.ReleaseFile) bool { return f.Part == claim.part })
		if claim.version != "" && !found {
			return fmt.Errorf("it claims %s %s, but has no file of it", claim.part, claim.version)
		}
	}
	return nil
}

func validateFile(p refitv1alpha1.ReleasePayload, f refitv1alpha1.ReleaseFile, sizes map[string]int64) error {
	claimed, ok := versionOfPart(p, f.Part)
	pattern := versionPattern
	switch {
	case !ok:
		return fmt.Errorf("%q is not a part of a host", refitv1alpha1.Clip(string(f.Part), 40))
	case !namePattern.MatchString(f.Name):
		return fmt.Errorf("%q is not the name of a binary or package", refitv1alpha1.Clip(f.Name, 40))
	case !slices.Contains(platforms, platformOf(f.OS, f.Arch)):
		return fmt.Errorf("%s: %q is not a supported platform", f.Name, refitv1alpha1.Clip(platformOf(f.OS, f.Arch), 40))
	case f.Kind != refitv1alpha1.PackageBinary && f.Kind != refitv1alpha1.PackageDeb && f.Kind != refitv1alpha1.PackageRpm:
		return fmt.Errorf("%s: %q is not a kind of package", f.Name, refitv1alpha1.Clip(string(f.Kind), 40))
	case f.Kind == refitv1alpha1.PackageBinary && !slices.Contains(binaries[f.Part], f.Name):
		return fmt.Errorf("%s is not a binary of %s", f.Name, f.Part)
	case f.Kind != refitv1alpha1.PackageBinary && !slices.Contains(packages[f.Part], f.Name):
		return fmt.Errorf("%s is not a package of %s", f.Name, f.Part)
	}
	if f.Kind != refitv1alpha1.PackageBinary {
		pattern = packagePattern
	}
	switch {
	case !pattern.MatchString(f.Version):
		return fmt.Errorf("%s: %q is not a version", f.Name, refitv1alpha1.Clip(f.Version, 40))
	case claimed == "":
		return fmt.Errorf("%s has version %s, but the ClusterRelease claims no version of %s", f.Name, f.Version, f.Part)
	case !sameVersion(f.Kind, f.Version, claimed):
		return fmt.Errorf("%s has version %s, but the ClusterRelease claims %s %s", f.Name, f.Version, f.Part, claimed)
	}
	if err := validateBlob(f.Blob, sizes); err != nil {
		return named(f.Name, err)
	}
	return named(f.Name, validateArchive(f, sizes))
}

// validateArchive validates the archive of a binary, which is the only place of the binary.
func validateArchive(f refitv1alpha1.ReleaseFile, sizes map[string]int64) error {
	a := f.Archive
	switch {
	case a == nil:
		return nil
	case f.Kind != refitv1alpha1.PackageBinary:
		return fmt.Errorf("a file of kind %s cannot be in an archive", f.Kind)
	case f.Path != "" || len(f.URLs) > 0:
		return errors.New("a file in an archive has no path and no URLs of its own")
	case !localPath(a.Member) || path.Base(a.Member) != f.Name:
		return fmt.Errorf("%q is not the path of the binary in its archive", refitv1alpha1.Clip(a.Member, 80))
	case a.Digest == f.Digest:
		return errors.New("the archive has the digest of the binary in it")
	}
	return validateBlob(a.Blob, sizes)
}

func validateImage(p refitv1alpha1.ReleasePayload, image refitv1alpha1.ReleaseImage, sizes map[string]int64) error {
	switch {
	case len(image.Name) > 255 || !imagePattern.MatchString(image.Name):
		return fmt.Errorf("%q is not a full image name with a tag", refitv1alpha1.Clip(image.Name, 80))
	case !slices.Contains(platforms, platformOf(image.OS, image.Arch)):
		return fmt.Errorf("%s: %q is not a supported platform", image.Name, refitv1alpha1.Clip(platformOf(image.OS, image.Arch), 40))
	case !digestPattern.MatchString(image.Config):
		return fmt.Errorf("%s: the digest of its config is not sha256: and 64 digits", image.Name)
	}
	if claimed, tag, known := versionOfImage(p, image.Name); known && tag != claimed {
		return fmt.Errorf("image %s differs from the version %q that the ClusterRelease claims", image.Name, claimed)
	}
	if image.Archive == nil {
		return nil
	}
	return named(image.Name, validateBlob(*image.Archive, sizes))
}

func validateBlob(b refitv1alpha1.Blob, sizes map[string]int64) error {
	switch {
	case !digestPattern.MatchString(b.Digest):
		return errors.New("the digest is not sha256: and 64 digits")
	case b.Size <= 0 || b.Size > MaxBlob:
		return fmt.Errorf("invalid size of %d bytes", b.Size)
	case b.Path != "" && !localPath(b.Path):
		return errors.New("the path leads out of its directory or contains invalid characters")
	case len(b.URLs) > maxURLs:
		return fmt.Errorf("%d URLs are more than %d", len(b.URLs), maxURLs)
	}
	if size, seen := sizes[b.Digest]; seen && size != b.Size {
		return fmt.Errorf("the digest has two sizes, %d and %d bytes", size, b.Size)
	}
	sizes[b.Digest] = b.Size
	for _, text := range b.URLs {
		if !plainURL(text) {
			return errors.New("a URL is not a plain http or https URL")
		}
	}
	return nil
}

// localPath reports whether a path is relative, clean, and does not lead out of its folder.
func localPath(p string) bool {
	return len(p) <= maxText && pathPattern.MatchString(p) && path.Clean(p) == p && filepath.IsLocal(p) && p != "."
}

// plainURL refuses URLs with a password, which everybody could read, and with invalid characters.
func plainURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && len(text) <= maxText && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && u.Fragment == "" &&
		!strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"<>\\^`{|}", r) })
}

func platformOf(os, arch string) string { return os + "/" + arch }

func named(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", name, err)
}
