package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// document is the part of an SPDX 2.3 document that Refit writes.
type document struct {
	SPDXVersion       string         `json:"spdxVersion"`
	DataLicense       string         `json:"dataLicense"`
	ID                string         `json:"SPDXID"`
	Name              string         `json:"name"`
	DocumentNamespace string         `json:"documentNamespace"`
	CreationInfo      creation       `json:"creationInfo"`
	Packages          []pkg          `json:"packages"`
	Relationships     []relationship `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type pkg struct {
	Name             string      `json:"name"`
	ID               string      `json:"SPDXID"`
	Version          string      `json:"versionInfo,omitempty"`
	Purpose          string      `json:"primaryPackagePurpose"`
	Supplier         string      `json:"supplier"`
	DownloadLocation string      `json:"downloadLocation"`
	FilesAnalyzed    bool        `json:"filesAnalyzed"`
	Checksums        []checksum  `json:"checksums,omitempty"`
	SourceInfo       string      `json:"sourceInfo,omitempty"`
	LicenseConcluded string      `json:"licenseConcluded"`
	LicenseDeclared  string      `json:"licenseDeclared"`
	CopyrightText    string      `json:"copyrightText"`
	ExternalRefs     []reference `json:"externalRefs"`
}

type checksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type reference struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	From string `json:"spdxElementId"`
	Type string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

const (
	documentID  = "SPDXRef-DOCUMENT"
	noAssertion = "NOASSERTION"
	license     = "Apache-2.0"
)

// newDocument describes a binary: a package for it, one for each module that it contains, and one
// for the standard library.
func newDocument(name, version, commit string, binary []byte, info *debug.BuildInfo, at time.Time) document {
	sum := sha256.Sum256(binary)
	digest := hex.EncodeToString(sum[:])
	top := newPackage(info.Main.Path, version)
	top.ID, top.Purpose = "SPDXRef-Binary", "APPLICATION"
	top.DownloadLocation = "git+https://" + info.Main.Path + "@" + commit
	top.LicenseDeclared = license
	top.Checksums = []checksum{{"SHA256", digest}}
	top.SourceInfo = "binary of " + info.Path

	standard := newPackage("stdlib", strings.TrimPrefix(info.GoVersion, "go"))
	standard.DownloadLocation, standard.LicenseDeclared = "https://go.dev/dl/", "BSD-3-Clause"
	packages := []pkg{top, standard}
	for _, module := range info.Deps {
		packages = append(packages, moduleOf(module))
	}
	slices.SortStableFunc(packages[1:], func(a, b pkg) int { return strings.Compare(a.ID, b.ID) })

	relationships := []relationship{{documentID, "DESCRIBES", top.ID}}
	for _, p := range packages[1:] {
		relationships = append(relationships, relationship{top.ID, "DEPENDS_ON", p.ID})
	}
	return document{
		SPDXVersion: "SPDX-2.3", DataLicense: "CC0-1.0", ID: documentID, Name: name,
		DocumentNamespace: fmt.Sprintf("https://%s/spdx/%s-%s", info.Main.Path, url.PathEscape(name), digest),
		CreationInfo: creation{
			Created: at.UTC().Format(time.RFC3339), Creators: []string{"Tool: " + info.Main.Path + "/tools/sbom"},
		},
		Packages: packages, Relationships: relationships,
	}
}

// moduleOf is the package of a module, or of the one that replaces it.
func moduleOf(module *debug.Module) pkg {
	used := module
	if module.Replace != nil {
		used = module.Replace
	}
	p := newPackage(used.Path, used.Version)
	if used.Sum != "" {
		p.SourceInfo = "go.sum " + used.Sum
		p.DownloadLocation = "https://proxy.golang.org/" + escaped(used.Path) + "/@v/" + escaped(used.Version) + ".zip"
	}
	if used != module {
		p.SourceInfo = strings.TrimSpace(p.SourceInfo + " replaces " + module.Path + "@" + module.Version)
	}
	return p
}

var notInID = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// newPackage is a library about whose license and origin nothing is claimed.
func newPackage(path, version string) pkg {
	return pkg{
		Name: path, ID: identifier(path, version), Version: version, Purpose: "LIBRARY",
		Supplier: noAssertion, DownloadLocation: noAssertion,
		LicenseConcluded: noAssertion, LicenseDeclared: noAssertion, CopyrightText: noAssertion,
		ExternalRefs: []reference{{"PACKAGE-MANAGER", "purl", packageURL(path, version)}},
	}
}

// identifier returns the identifier of a package. The digest keeps a/b-c and a-b/c apart, which
// SPDX spells alike.
func identifier(path, version string) string {
	sum := sha256.Sum256([]byte(path + "@" + version))
	return "SPDXRef-Package-" + notInID.ReplaceAllString(path+"-"+version, "-") + "-" + hex.EncodeToString(sum[:4])
}

// packageURL returns the purl of a module: its type demands lower case.
func packageURL(path, version string) string {
	out := "pkg:golang/" + strings.ToLower(path)
	if version != "" {
		out += "@" + url.QueryEscape(version)
	}
	return out
}

// escaped returns a path or version as the module proxy spells it: without upper case.
func escaped(s string) string {
	var out strings.Builder
	for _, r := range s {
		if r >= 'A' && r <= 'Z' {
			out.WriteByte('!')
			r += 'a' - 'A'
		}
		out.WriteRune(r)
	}
	return out.String()
}
