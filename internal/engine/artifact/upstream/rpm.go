package upstream

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
)

// repomd is the used part of a repomd.xml.
type repomd struct {
	Data []struct {
		Type     string      `xml:"type,attr"`
		Checksum rpmChecksum `xml:"checksum"`
		Location rpmLocation `xml:"location"`
		Size     int64       `xml:"size"`
	} `xml:"data"`
}

type rpmChecksum struct {
	Type  string `xml:"type,attr"`
	Value string `xml:",chardata"`
}

type rpmLocation struct {
	Base string `xml:"base,attr"`
	Href string `xml:"href,attr"`
}

// rpmPackage is the used part of a package in a primary.xml.
type rpmPackage struct {
	Name    string `xml:"name"`
	Arch    string `xml:"arch"`
	Version struct {
		Epoch   string `xml:"epoch,attr"`
		Version string `xml:"ver,attr"`
		Release string `xml:"rel,attr"`
	} `xml:"version"`
	Checksum rpmChecksum `xml:"checksum"`
	Size     struct {
		Package int64 `xml:"package,attr"`
	} `xml:"size"`
	Location rpmLocation `xml:"location"`
}

// Rpms returns the packages of a repository of rpm packages that have one of the names.
func (r *Repository) Rpms(ctx context.Context, names []string) ([]Package, error) {
	address := r.address("repodata/repomd.xml")
	keys, err := r.fetchKeys(ctx, address+".key")
	if err != nil {
		return nil, err
	}
	raw, err := r.Web.Get(ctx, address, maxSignedMetadata)
	if err != nil {
		return nil, err
	}
	signature, err := r.Web.Get(ctx, address+".asc", maxKey)
	if err != nil {
		return nil, err
	}
	if err := keys.check(address, raw, signature); err != nil {
		return nil, err
	}
	index, err := rpmIndex(raw)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", address, err)
	}
	list, err := r.fetch(ctx, index)
	if err != nil {
		return nil, err
	}
	out, err := r.rpmPackages(list, names)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", r.address(index.path), err)
	}
	return out, nil
}

// rpmIndex returns the list of packages that a signed repomd.xml names.
func rpmIndex(signed []byte) (reference, error) {
	var metadata repomd
	if err := xml.Unmarshal(signed, &metadata); err != nil {
		return reference{}, err
	}
	var found []reference
	for _, data := range metadata.Data {
		if data.Type != "primary" {
			continue
		}
		ref, err := rpmReference(data.Checksum, data.Location, data.Size)
		if err != nil {
			return reference{}, fmt.Errorf("the list of packages is not usable: %w", err)
		}
		found = append(found, ref)
	}
	if len(found) != 1 {
		return reference{}, fmt.Errorf("it names %d lists of packages", len(found))
	}
	return found[0], nil
}

func rpmReference(sum rpmChecksum, location rpmLocation, size int64) (reference, error) {
	switch {
	case sum.Type != "sha256" || !hexPattern.MatchString(sum.Value):
		return reference{}, errors.New("it has no SHA-256 digest")
	case location.Base != "":
		return reference{}, errors.New("it is in another repository")
	case !localPath(location.Href):
		return reference{}, errOutside
	}
	return reference{path: location.Href, digest: sum.Value, size: size}, nil
}

// rpmPackages returns the packages of a primary.xml that have one of the names.
func (r *Repository) rpmPackages(list []byte, names []string) ([]Package, error) {
	decoder := xml.NewDecoder(bytes.NewReader(list))
	var out []Package
	for count := 0; count < maxPackages; {
		token, err := decoder.Token()
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, err
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local != "package" {
			continue
		}
		count++
		var element rpmPackage
		if err := decoder.DecodeElement(&element, &start); err != nil {
			return nil, err
		}
		if !slices.Contains(names, element.Name) || element.Arch == "src" {
			continue
		}
		pkg, err := r.rpmPackage(&element)
		if err != nil {
			return nil, fmt.Errorf("package %s: %w", element.Name, err)
		}
		out = append(out, pkg)
	}
	return nil, fmt.Errorf("it has more than %d packages", maxPackages)
}

func (r *Repository) rpmPackage(p *rpmPackage) (Package, error) {
	ref, err := rpmReference(p.Checksum, p.Location, p.Size.Package)
	if err != nil {
		return Package{}, err
	}
	version := p.Version.Version + "-" + p.Version.Release
	if p.Version.Epoch != "" && p.Version.Epoch != "0" {
		version = p.Version.Epoch + ":" + version
	}
	blob, err := r.blob(ref)
	return Package{Name: p.Name, Version: version, Arch: p.Arch, Blob: blob}, err
}
