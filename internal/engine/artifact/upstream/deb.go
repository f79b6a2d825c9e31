package upstream

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// debIndexes are the lists of packages of a flat repository, in the order of preference.
var debIndexes = []string{"Packages.gz", "Packages"}

// Debs returns the packages of a repository of Debian packages that have one of the names.
//
// The repository is flat, as pkgs.k8s.io is: InRelease, Packages and Release.key are in its
// directory.
func (r *Repository) Debs(ctx context.Context, names []string) ([]Package, error) {
	keys, err := r.fetchKeys(ctx, r.address("Release.key"))
	if err != nil {
		return nil, err
	}
	address := r.address("InRelease")
	raw, err := r.Web.Get(ctx, address, maxSignedMetadata)
	if err != nil {
		return nil, err
	}
	signed, err := keys.open(address, raw)
	if err != nil {
		return nil, err
	}
	index, err := r.debIndex(address, signed)
	if err != nil {
		return nil, err
	}
	list, err := r.fetch(ctx, index)
	if err != nil {
		return nil, err
	}
	return r.debPackages(r.address(index.path), list, names)
}

// debIndex returns the list of packages that a signed InRelease names.
func (r *Repository) debIndex(address string, signed []byte) (reference, error) {
	fields, err := stanza(linesOf(signed))
	if err != nil {
		return reference{}, fmt.Errorf("cannot read %s: %w", address, err)
	}
	if until := fields["Valid-Until"]; until != "" {
		end, err := parseDate(until)
		switch {
		case err != nil:
			return reference{}, unproven(address, "cannot read Valid-Until: %w", err)
		case !r.now().Before(end):
			return reference{}, unproven(address, "the metadata has expired on %s", end.UTC().Format(time.DateTime))
		}
	}
	sums := map[string]reference{}
	for line := range strings.Lines(fields["SHA256"]) {
		columns := strings.Fields(line)
		if len(columns) != 3 {
			continue
		}
		size, err := strconv.ParseInt(columns[1], 10, 64)
		if err != nil || size < 0 || !hexPattern.MatchString(columns[0]) {
			return reference{}, fmt.Errorf("cannot read %s: the digest of a list of packages is invalid", address)
		}
		sums[strings.TrimPrefix(columns[2], "./")] = reference{path: columns[2], digest: columns[0], size: size}
	}
	for _, name := range debIndexes {
		if index, ok := sums[name]; ok {
			index.path = name
			return index, nil
		}
	}
	return reference{}, fmt.Errorf("%s names no list of packages with a SHA-256 digest: it is not a flat repository", address)
}

// parseDate parses a date of an InRelease, such as "Sat, 14 Nov 2026 08:00:00 UTC".
func parseDate(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC1123Z, time.RFC1123, "Mon, _2 Jan 2006 15:04:05 MST", "Mon, _2 Jan 2006 15:04:05 -0700"} {
		out, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		// A zone without a known offset would be read as UTC.
		if zone, offset := out.Zone(); offset == 0 && zone != "" && zone != "UTC" && zone != "GMT" {
			return time.Time{}, fmt.Errorf("unknown time zone %s", zone)
		}
		return out, nil
	}
	return time.Time{}, fmt.Errorf("%q is not a date", text)
}

// debPackages returns the packages of a list that have one of the names.
func (r *Repository) debPackages(address string, list []byte, names []string) ([]Package, error) {
	lines := linesOf(list)
	var out []Package
	for range maxPackages {
		fields, err := stanza(lines)
		switch {
		case err != nil:
			return nil, fmt.Errorf("cannot read %s: %w", address, err)
		case fields == nil:
			return out, nil
		case !slices.Contains(names, fields["Package"]):
			continue
		}
		pkg, err := r.debPackage(fields)
		if err != nil {
			return nil, fmt.Errorf("cannot read %s: package %s: %w", address, fields["Package"], err)
		}
		out = append(out, pkg)
	}
	return nil, fmt.Errorf("%s has more than %d packages", address, maxPackages)
}

func (r *Repository) debPackage(fields map[string]string) (Package, error) {
	size, err := strconv.ParseInt(fields["Size"], 10, 64)
	if err != nil {
		return Package{}, errors.New("it has no size")
	}
	blob, err := r.blob(reference{path: fields["Filename"], digest: fields["SHA256"], size: size})
	return Package{Name: fields["Package"], Version: fields["Version"], Arch: fields["Architecture"], Blob: blob}, err
}

// linesOf returns a scanner of lines; a line is at most as long as the text.
func linesOf(text []byte) *bufio.Scanner {
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, len(text)+1)
	return lines
}

// stanza reads the fields up to an empty line, or nil at the end. Continuation lines belong to the
// field before them. It refuses a field that occurs twice, of which readers could use either.
func stanza(lines *bufio.Scanner) (map[string]string, error) {
	var fields map[string]string
	last := ""
	for lines.Scan() {
		text := strings.TrimRight(lines.Text(), "\r")
		name, value, field := strings.Cut(text, ":")
		switch {
		case strings.TrimSpace(text) == "" && fields == nil:
			continue
		case strings.TrimSpace(text) == "":
			return fields, nil
		case text[0] == ' ' || text[0] == '\t':
			if last == "" {
				return nil, errors.New("it starts with a continuation line")
			}
			fields[last] += "\n" + text
			continue
		case !field:
			return nil, errors.New("a line has no field")
		case fields == nil:
			fields = map[string]string{}
		}
		if _, twice := fields[name]; twice {
			return nil, fmt.Errorf("field %q occurs twice", name)
		}
		last, fields[name] = name, strings.TrimSpace(value)
	}
	return fields, lines.Err()
}
