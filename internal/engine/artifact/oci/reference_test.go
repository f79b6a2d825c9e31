package oci

import (
	"strings"
	"testing"
)

func TestAddresses(t *testing.T) {
	digest := "sha256:" + strings.Repeat("a", 64)
	for address, c := range map[string]struct {
		want string // the tag, or an error
		repo bool
		here bool // plain HTTP needs no permission
	}{
		"oci://registry.example/refit/releases":                       {"", true, false},
		"oci://registry.example/refit/releases:v1.36.3":               {"v1.36.3", false, false},
		"oci://registry.example:5000/releases@" + digest:              {"", false, false},
		"oci://localhost:5000/releases":                               {"", true, true},
		"oci://localhost/releases":                                    {"", true, true},
		"oci://127.0.0.1:5000/releases":                               {"", true, true},
		"oci://localhost.example/releases":                            {"", true, false},
		"oci://127.0.0.1.example:5000/releases":                       {"", true, false},
		"registry.example/refit/releases:v1.36.3":                     {"is not an address", false, false},
		"https://registry.example/refit/releases:v1.36.3":             {"is not an address", false, false},
		"oci:/srv/layout":                                             {"is not an address", false, false},
		"oci://registry.example":                                      {"is not an address", false, false},
		"oci://registry.example/Releases":                             {"is not an address", false, false},
		"oci://registry.example/../releases:v1":                       {"is not an address", false, false},
		"oci://user@registry.example/releases:v1":                     {"is not an address", false, false},
		"oci://registry.example/releases:v1.36.3@" + digest:           {"a tag and a digest", false, false},
		"oci://registry.example/releases@sha256:abc":                  {"is not an address", false, false},
		"oci://registry.example/r@sha512:" + strings.Repeat("a", 128): {"use sha256", false, false},
	} {
		at, err := Parse(address)
		if err != nil {
			if c.want == "" || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", address, err, c.want)
			}
			continue
		}
		if at.Tag() != c.want || at.IsRepository() != c.repo || at.isLoopback() != c.here || at.String() != address {
			t.Errorf("%s: %v has the tag %q, is a repository: %v, is on this machine: %v", address, at, at.Tag(), at.IsRepository(), at.isLoopback())
		}
	}
}

func TestAddressWithAnotherTag(t *testing.T) {
	at, err := Parse("oci://registry.example/releases")
	if err != nil {
		t.Fatal(err)
	}
	if tagged, err := at.Tagged("v1.36.3"); err != nil || tagged.String() != "oci://registry.example/releases:v1.36.3" || !at.IsRepository() {
		t.Errorf("%v, %v", tagged, err)
	}
	for _, tag := range []string{"", "v1/2", "a+b", "sha256:" + strings.Repeat("a", 64)} {
		if _, err := at.Tagged(tag); err == nil {
			t.Errorf("%q is accepted as a tag", tag)
		}
	}
}
