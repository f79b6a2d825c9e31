package builder

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// debsFormat is incremented when the content of the packages changes in code, which is not part of
// the key.
const debsFormat = "2"

// debs is the recipe of deb packages from the binaries of another entry. The entry contains them in
// debs/.
type debs struct {
	name     string
	release  string
	binaries recipe
	packages []deb
}

// A deb is one package.
type deb struct {
	name, version string
	depends       string
	summary       string
	binaries      map[string]string // path in the package → name in bin/
	texts         map[string]string // path in the package → text
	conffiles     []string          // texts that a user may change
	scripts       map[string]string // postinst, prerm, … → text
}

func (d debs) component() string    { return d.name }
func (d debs) version() string      { return d.release }
func (d debs) needs() []recipe      { return []recipe{d.binaries} }
func (debs) usually() time.Duration { return 10 * time.Second }

func (d debs) inputs() []string {
	inputs := []string{debsFormat}
	for _, deb := range d.packages {
		// fmt prints maps in the order of their keys.
		inputs = append(inputs, fmt.Sprintf("%q", []any{deb.control(), deb.binaries, deb.texts, deb.conffiles, deb.scripts}))
	}
	return inputs
}

func (d debs) build(ctx context.Context, shop *workshop, dir string) error {
	into := filepath.Join(dir, "debs")
	if err := os.Mkdir(into, 0o755); err != nil {
		return fmt.Errorf("creating directory: %w", err)
	}
	for _, deb := range d.packages {
		tree := filepath.Join(dir, deb.name)
		if err := deb.lay(tree, filepath.Join(shop.of(d.binaries), "bin")); err != nil {
			return fmt.Errorf("laying out %s: %w", deb.name, err)
		}
		// Low compression, because it is read only on this machine. The date makes it reproducible.
		err := shop.run(ctx, command{
			argv: []string{"dpkg-deb", "--build", "--root-owner-group", "-Zgzip", "-z1", tree, filepath.Join(into, deb.file())},
			env:  []string{"SOURCE_DATE_EPOCH=0"},
		})
		if err != nil {
			return err
		}
		if err := os.RemoveAll(tree); err != nil {
			return fmt.Errorf("removing %s: %w", tree, err)
		}
	}
	return nil
}

// file returns the file name of the package.
func (d deb) file() string { return fmt.Sprintf("%s_%s_%s.deb", d.name, d.version, runtime.GOARCH) }

func (d deb) control() string {
	return fmt.Sprintf("Package: %s\nVersion: %s\nArchitecture: %s\nMaintainer: The Refit authors <testbed@refit.invalid>\n"+
		"Section: admin\nPriority: optional\nDepends: %s\nDescription: %s\n",
		d.name, d.version, runtime.GOARCH, d.depends, d.summary)
}

// lay writes the tree that dpkg-deb packs.
func (d deb) lay(tree, bin string) error {
	for to, binary := range d.binaries {
		if err := linkFile(filepath.Join(bin, binary), filepath.Join(tree, to)); err != nil {
			return err
		}
	}
	for to, text := range d.texts {
		if err := writeFile(filepath.Join(tree, to), text, 0o644); err != nil {
			return err
		}
	}
	size, err := treeSize(tree)
	if err != nil {
		return err
	}
	control := filepath.Join(tree, "DEBIAN")
	// Apt checks the free space.
	text := d.control() + fmt.Sprintf("Installed-Size: %d\n", size/1024+1)
	if err := writeFile(filepath.Join(control, "control"), text, 0o644); err != nil {
		return err
	}
	if len(d.conffiles) > 0 {
		if err := writeFile(filepath.Join(control, "conffiles"), strings.Join(d.conffiles, "\n")+"\n", 0o644); err != nil {
			return err
		}
	}
	for name, text := range d.scripts {
		if err := writeFile(filepath.Join(control, name), text, 0o755); err != nil {
			return err
		}
	}
	return nil
}
