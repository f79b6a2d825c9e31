package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// release is a directory of artifacts, and what is expected there.
type release struct {
	version         string
	platforms       []platform
	dir             string
	krew, validator string
}

// platform is an operating system and an architecture, as Go names them.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "/" + p.arch }

// product is a binary for a platform.
type product struct {
	name string
	platform
}

const (
	cli          = "refit"
	checksums    = "checksums.txt"
	krewManifest = "krew/refit.yaml"
	formula      = "homebrew/refit.rb"
)

// hostBinaries run in clusters: on Linux, and in images.
var hostBinaries = []string{"refit-agent", "refit-controller", "refit-components"}

// products returns the binaries of the release.
func (r release) products() (out []product) {
	for _, p := range r.platforms {
		out = append(out, product{cli, p})
		if p.os != "linux" {
			continue
		}
		for _, name := range hostBinaries {
			out = append(out, product{name, p})
		}
	}
	return out
}

// base is the name of the files about a binary, without their extensions.
func (r release) base(p product) string {
	return fmt.Sprintf("%s_%s_%s_%s", p.name, strings.TrimPrefix(r.version, "v"), p.os, p.arch)
}

func (r release) archive(p product) string {
	if p.os == "windows" {
		return r.base(p) + ".zip"
	}
	return r.base(p) + ".tar.gz"
}

func (r release) document(p product) string { return r.base(p) + ".spdx.json" }

func (r release) image(name string) string {
	return fmt.Sprintf("%s_%s_image.tar", name, strings.TrimPrefix(r.version, "v"))
}

// listed returns the names of the artifacts that checksums.txt must list, in order.
func (r release) listed() (out []string) {
	images := false
	for _, p := range r.products() {
		out = append(out, r.archive(p), r.document(p))
		images = images || p.os == "linux"
	}
	if images {
		for _, name := range hostBinaries {
			out = append(out, r.image(name))
		}
	}
	slices.Sort(out)
	return out
}

// check checks everything that one build can show.
func (r release) check(ctx context.Context) error {
	if err := r.checkSums(); err != nil {
		return err
	}
	binaries := map[product][]byte{}
	for _, p := range r.products() {
		binary, err := r.unpack(p)
		if err != nil {
			return fmt.Errorf("%s: %w", r.archive(p), err)
		}
		info, err := checkBinary(p, binary)
		if err != nil {
			return fmt.Errorf("the binary of %s: %w", r.archive(p), err)
		}
		if err := r.runs(ctx, p, binary); err != nil {
			return fmt.Errorf("the binary of %s: %w", r.archive(p), err)
		}
		if err := r.checkDocument(p, binary, info); err != nil {
			return fmt.Errorf("%s: %w", r.document(p), err)
		}
		if p.name != cli {
			binaries[p] = binary
		}
	}
	if err := r.checkImages(binaries); err != nil {
		return err
	}
	if err := r.checkKrew(ctx); err != nil {
		return fmt.Errorf("%s: %w", krewManifest, err)
	}
	if err := r.checkFormula(); err != nil {
		return fmt.Errorf("%s: %w", formula, err)
	}
	return nil
}

// checkSums checks checksums.txt against the files and the files against what must be there.
func (r release) checkSums() error {
	sums, err := r.sums()
	if err != nil {
		return fmt.Errorf("%s: %w", checksums, err)
	}
	var problems []error
	for _, name := range r.listed() {
		want, is := sums[name]
		if !is {
			problems = append(problems, fmt.Errorf("%s does not list %s", checksums, name))
			continue
		}
		if got, err := r.digest(name); err != nil {
			problems = append(problems, err)
		} else if got != want {
			problems = append(problems, fmt.Errorf("%s has the digest %s, but %s lists %s", name, got, checksums, want))
		}
		delete(sums, name)
	}
	for name := range sums {
		problems = append(problems, fmt.Errorf("%s lists %s, which is no artifact of this release", checksums, name))
	}
	return errors.Join(problems...)
}

// sums returns the digests of checksums.txt by name.
func (r release) sums() (map[string]string, error) {
	raw, err := os.ReadFile(filepath.Join(r.dir, checksums))
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	for lines.Scan() {
		digest, name, ok := strings.Cut(lines.Text(), "  ")
		if _, twice := out[name]; !ok || len(digest) != 2*sha256.Size || twice || !fs.ValidPath(name) || strings.Contains(name, "/") {
			return nil, fmt.Errorf("the line %q is not the digest and the name of another file", lines.Text())
		}
		out[name] = digest
	}
	return out, lines.Err()
}

// digest returns the digest of a file.
func (r release) digest(name string) (string, error) {
	file, err := os.Open(filepath.Join(r.dir, name))
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", fmt.Errorf("cannot read %s: %w", name, err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
