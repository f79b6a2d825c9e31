package create

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Options are what a ClusterRelease is made from.
type Options struct {
	// Kubernetes is the version to make a ClusterRelease of, such as v1.36.3.
	Kubernetes string
	// Folders are looked through for programs, packages and image archives.
	Folders []string
	// Containerd, Runc and CNIPlugins choose where there are several, as plain versions: 2.4.2.
	Containerd, Runc, CNIPlugins string
	// Etcd, CoreDNS and Pause are tags of images, where they are not those that kubeadm wants.
	Etcd, CoreDNS, Pause string
	// Without names what is left out on purpose, of Optional.
	Without []string
	// Online is what upstream publishes, nil to take nothing from there.
	Online *Online
	// Doing is told what is being done; it may be nil.
	Doing func(what string)
}

// Online is what upstream publishes. The empty values are upstream's own addresses.
type Online struct {
	// Downloads has Kubernetes' programs, as in https://dl.k8s.io/release.
	Downloads string
	// RuncDownloads has runc's releases, as in https://github.com/opencontainers/runc/releases/download.
	RuncDownloads string
	// Repository has the images, as in registry.k8s.io or registry.example:5000/mirror. With http:// in front it is asked without TLS.
	Repository string
	// Archs are the platforms, as Go names them: amd64.
	Archs []string
}

// Optional lists what a ClusterRelease may be without.
func Optional() []string {
	return []string{"containerd", "runc", "cni", "kubectl", "etcd", "coredns", "kube-proxy"}
}

// Result is a payload, and what a person should know of how it came about.
type Result struct {
	Payload refitv1alpha1.ReleasePayload
	// Skipped is what was found and not taken.
	Skipped []Skipped
	// Warnings are what may be wrong with the ClusterRelease.
	Warnings []string
}

// Skipped is files that were not taken for one reason.
type Skipped struct {
	Why   string
	Count int
	First string // one of them
}

// WrongOptionError is that what was asked for makes no sense.
type WrongOptionError struct{ error }

func (w WrongOptionError) Unwrap() error { return w.error }

func (o *Options) check() error {
	for _, name := range o.Without {
		if !slices.Contains(Optional(), name) {
			return WrongOptionError{fmt.Errorf("%q cannot be left out; only %s can", name, strings.Join(Optional(), ", "))}
		}
	}
	if len(o.Folders) == 0 && o.Online == nil {
		return WrongOptionError{errors.New("there is neither a folder nor upstream to make a ClusterRelease from")}
	}
	return nil
}

func (o *Options) without(name string) bool { return slices.Contains(o.Without, name) }

func (o *Options) doing(format string, args ...any) {
	if o.Doing != nil {
		o.Doing(fmt.Sprintf(format, args...))
	}
}
