package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
)

// artifact is a file of a release.
type artifact struct {
	size   int64
	digest string
}

// digests returns all files of a release by name, including those that no checksum covers.
func (r release) digests() (map[string]artifact, error) {
	out := map[string]artifact{}
	for _, name := range append(r.listed(), checksums, krewManifest, formula) {
		digest, err := r.digest(name)
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(filepath.Join(r.dir, name))
		if err != nil {
			return nil, err
		}
		out[name] = artifact{info.Size(), digest}
	}
	return out, nil
}

// printTable prints the artifacts, and whether those of the second build are equal.
func printTable(out io.Writer, artifacts, again map[string]artifact) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	heading := "ARTIFACT\tBYTES\tSHA-256"
	if again != nil {
		heading += "\tSECOND BUILD"
	}
	fmt.Fprintln(w, heading)
	for _, name := range slices.Sorted(maps.Keys(artifacts)) {
		a := artifacts[name]
		fmt.Fprintf(w, "%s\t%d\t%s", name, a.size, a.digest)
		switch {
		case again == nil:
		case again[name].digest == a.digest:
			fmt.Fprint(w, "\tequal")
		default:
			fmt.Fprint(w, "\t"+again[name].digest)
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

// sameDigests fails if an artifact differs between two builds.
func sameDigests(artifacts, again map[string]artifact) error {
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(artifacts)) {
		if artifacts[name].digest != again[name].digest {
			problems = append(problems, fmt.Errorf("%s differs between two builds", name))
		}
	}
	return errors.Join(problems...)
}
