package create

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact/upstream"
	"github.com/refit-dev/refit/internal/upgrade/signedconfig"
)

// Options are the sources and versions of a ClusterRelease.
type Options struct {
	// Kubernetes is the version of the ClusterRelease, such as v1.36.3.
	Kubernetes string
	// Folders are searched for binaries, packages and image archives.
	Folders []string
	// Containerd, Runc and CNIPlugins select one of several versions, such as 2.4.2.
	Containerd, Runc, CNIPlugins string
	// Etcd, CoreDNS and Pause override the image tags that kubeadm requires.
	Etcd, CoreDNS, Pause string
	// Without lists the elements of Optional to exclude.
	Without []string
	// Images are images that components need, besides those that kubeadm requires.
	Images []NeededImage
	// ClusterConfiguration is what the ClusterRelease sets in that of kubeadm, or nil.
	ClusterConfiguration *refitv1alpha1.ClusterConfigurationPatch
	// Online is the upstream to take missing files from, or nil.
	Online *Online
	// Doing reports the file, address or image that is being read. It may be nil.
	Doing func(what string)
}

// NeededImage is an image that a component needs.
type NeededImage struct {
	Name string // in full, as FullName returns it
	By   string // the component
}

// Online are the addresses of upstream. Empty ones have a default.
type Online struct {
	// Downloads has the binaries of Kubernetes, such as https://dl.k8s.io/release.
	Downloads string
	// RuncDownloads has the releases of runc, such as
	// https://github.com/opencontainers/runc/releases/download.
	RuncDownloads string
	// ContainerdDownloads and CNIDownloads have the archives of containerd and of the CNI plugins,
	// such as https://github.com/containerd/containerd/releases/download.
	ContainerdDownloads, CNIDownloads string
	// Repository has the images, such as registry.k8s.io or registry.example:5000/mirror. With the
	// prefix http:// Refit uses no TLS.
	Repository string
	// Mirror serves the repository at another address, such as https://mirror.example. The images
	// keep their names: the hosts have a mirror of their own, as in containerd's hosts.toml.
	Mirror string
	// Packages has a package repository of each minor version and kind below it, such as
	// https://pkgs.k8s.io/core:/stable:/.
	Packages string
	// PackageKeys are the fingerprints of the keys that may sign the package repositories, by
	// default that of the Kubernetes project.
	PackageKeys []string
	// AcceptDigests are digests of binaries, archives and images that need no signature, since the
	// user has compared them.
	AcceptDigests []string
	// Sigstore proves binaries and images, by default with the public instance of sigstore.
	Sigstore upstream.Sigstore
	// Kinds are the kinds of the kubelets of the hosts. None is Binary.
	Kinds []refitv1alpha1.PackageKind
	// PartKinds are the kinds of single parts, if they are known: hosts with packages of Kubernetes
	// may have containerd from its archive. The default is Kinds.
	PartKinds map[refitv1alpha1.Part][]refitv1alpha1.PackageKind
	// Hosts are the hosts of the cluster that the ClusterRelease is for, if it is for one.
	Hosts []Host
	// Plugins are the CNI plugins that the hosts have, of those that are plain files. None is all.
	Plugins []string
	// Archs are the architectures by their names in Go, such as amd64.
	Archs []string
}

// binaries reports whether a kubelet is a plain file.
func (o *Online) binaries() bool {
	return len(o.Kinds) == 0 || slices.Contains(o.Kinds, refitv1alpha1.PackageBinary)
}

// has reports whether a host has a part as a kind of files.
func (o *Online) has(part refitv1alpha1.Part, kind refitv1alpha1.PackageKind) bool {
	kinds, known := o.PartKinds[part]
	if !known {
		kinds = o.Kinds
		if len(kinds) == 0 {
			kinds = []refitv1alpha1.PackageKind{refitv1alpha1.PackageBinary}
		}
	}
	return slices.Contains(kinds, kind)
}

// fingerprintPattern matches fingerprints of keys of version 4 and of version 6. A shorter key ID
// would fit other keys, too.
var fingerprintPattern = regexp.MustCompile(`^([0-9A-Fa-f]{40}|[0-9A-Fa-f]{64})$`)

var digestPattern = regexp.MustCompile(`^(?i:sha256):[0-9A-Fa-f]{64}$`)

// Optional lists what a ClusterRelease may exclude.
func Optional() []string {
	return []string{"containerd", "runc", "cni", "kubectl", "etcd", "coredns", "kube-proxy"}
}

// Result is a payload, with the files that are not in it and warnings.
type Result struct {
	Payload refitv1alpha1.ReleasePayload
	// Skipped are the files that were found and not used.
	Skipped []Skipped
	// Warnings are possible faults of the ClusterRelease.
	Warnings []string
}

// Skipped is the number of files that were not used for one reason.
type Skipped struct {
	Why   string
	Count int
	First string // one of them
}

// WrongOptionError is an invalid option.
type WrongOptionError struct{ error }

func (w WrongOptionError) Unwrap() error { return w.error }

func (o *Options) check() error {
	for _, name := range o.Without {
		if !slices.Contains(Optional(), name) {
			return WrongOptionError{fmt.Errorf("%q cannot be excluded, only %s", name, strings.Join(Optional(), ", "))}
		}
	}
	for name, selected := range map[string]string{
		"containerd": o.Containerd, "runc": o.Runc, "cni": o.CNIPlugins, "etcd": o.Etcd, "coredns": o.CoreDNS,
	} {
		if selected != "" && o.without(name) {
			return WrongOptionError{fmt.Errorf("%s is both excluded and selected (%s)", name, selected)}
		}
	}
	if unsupported := signedconfig.Unsupported(signedconfig.Of(o.ClusterConfiguration), o.Kubernetes); len(unsupported) > 0 {
		return WrongOptionError{fmt.Errorf("the patch of the ClusterConfiguration does not fit: %s", strings.Join(unsupported, "; "))}
	}
	if o.Online != nil {
		if err := o.Online.check(); err != nil {
			return WrongOptionError{err}
		}
	}
	if len(o.Folders) == 0 && o.Online == nil {
		return WrongOptionError{errors.New("neither a directory nor upstream is given to create a ClusterRelease from")}
	}
	return nil
}

// repositoryPattern matches a repository of images. It may not have a user and a password: the
// names of images are public.
var repositoryPattern = regexp.MustCompile(`^(https?://)?[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]+)?(/[a-z0-9._-]+)*/?$`)

func (o *Online) check() error {
	for _, kind := range o.Kinds {
		if !slices.Contains(kinds, kind) {
			return fmt.Errorf("%q is not a kind of files", kind)
		}
	}
	for _, key := range o.PackageKeys {
		if !fingerprintPattern.MatchString(key) {
			return fmt.Errorf("%q is not the fingerprint of an OpenPGP key, which has 40 hexadecimal digits", key)
		}
	}
	for _, digest := range o.AcceptDigests {
		if !digestPattern.MatchString(digest) {
			return fmt.Errorf("%q is not a digest, which is sha256: and 64 hexadecimal digits", digest)
		}
	}
	for _, address := range []string{o.Downloads, o.ContainerdDownloads, o.RuncDownloads, o.CNIDownloads, o.Packages} {
		if err := checkAddress(address); err != nil {
			return err
		}
	}
	for _, repository := range []string{o.Repository, o.Mirror} {
		if repository != "" && !repositoryPattern.MatchString(repository) {
			return errors.New("the repository of the images is not one such as registry.example/mirror, without a user and a password")
		}
	}
	return nil
}

// checkAddress refuses an address that no ClusterRelease can have. Its errors do not contain a
// password.
func checkAddress(address string) error {
	u, err := url.Parse(address)
	switch {
	case address == "":
		return nil
	case err != nil:
		return errors.New("the address of a server is not a URL")
	case u.User != nil:
		return fmt.Errorf("%s has a user: everybody who can read the ClusterRelease could read a password", u.Redacted())
	case (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("%q is not the address of a server, such as https://mirror.example/k8s", address)
	}
	return nil
}

func (o *Options) without(name string) bool { return slices.Contains(o.Without, name) }

func (o *Options) doing(what string) {
	if o.Doing != nil {
		o.Doing(what)
	}
}
