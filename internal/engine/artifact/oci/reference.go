package oci

import (
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/opencontainers/go-digest"
	"oras.land/oras-go/v2/registry"
)

// scheme begins the address of an artifact.
const scheme = "oci://"

// Reference is the address of an artifact, or of a repository if it has neither a tag nor a digest.
type Reference struct{ at registry.Reference }

// Parse parses oci://HOST/REPOSITORY, with :TAG or @sha256:DIGEST at its end.
func Parse(address string) (Reference, error) {
	rest, ok := strings.CutPrefix(address, scheme)
	if !ok {
		return Reference{}, fmt.Errorf("%q is not an address such as oci://registry.example/refit/releases:v1.36.3", address)
	}
	if path, _, by := strings.Cut(rest, "@"); by && strings.Contains(path[strings.LastIndex(path, "/")+1:], ":") {
		return Reference{}, fmt.Errorf("%q has a tag and a digest: use one of them", address)
	}
	at, err := registry.ParseReference(rest)
	if err != nil {
		return Reference{}, fmt.Errorf("%q is not an address such as oci://registry.example/refit/releases:v1.36.3: %w", address, err)
	}
	if by, err := at.Digest(); err == nil && by.Algorithm() != digest.SHA256 {
		return Reference{}, fmt.Errorf("%q has a digest of %s: use sha256", address, by.Algorithm())
	}
	return Reference{at}, nil
}

// String returns the address.
func (r Reference) String() string { return scheme + r.at.String() }

// IsRepository reports whether the address has neither a tag nor a digest.
func (r Reference) IsRepository() bool { return r.at.Reference == "" }

// Tag returns the tag; empty if the address has a digest or neither.
func (r Reference) Tag() string {
	if r.at.ValidateReferenceAsTag() != nil {
		return ""
	}
	return r.at.Reference
}

// Tagged returns the address of a tag in the same repository.
func (r Reference) Tagged(tag string) (Reference, error) {
	r.at.Reference = tag
	if err := r.at.ValidateReferenceAsTag(); err != nil {
		return Reference{}, fmt.Errorf("%q is not a tag", tag)
	}
	return r, nil
}

// isLoopback reports whether the registry is on this machine, where nobody can change what it
// sends.
func (r Reference) isLoopback() bool {
	host := r.at.Registry
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	address, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host == "localhost" || (err == nil && address.IsLoopback())
}
