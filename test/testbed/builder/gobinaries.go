package builder

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// goBinaries is the recipe of commands that are built from Go modules. The entry contains them in
// bin/.
type goBinaries struct {
	name      string
	release   string     // the version in the name of the entry
	toolchain string     // `go env GOVERSION`
	modules   []goModule // the go.mod of the first is the model for ours
	staging   string     // version of the libraries that upstream replaces locally
	commands  []goCommand
	tags      string
	ldflags   string
	cgo       bool // link libraries of this host
	takes     time.Duration
	// source, if set, is a main package of our own in the root of the module.
	source string
	// proof, if set, verifies the built commands.
	proof func(ctx context.Context, shop *workshop, bin string) error
	// proofInputs are the inputs of the proof.
	proofInputs []string
}

// A goCommand is a main package, and the name of its binary if it differs.
type goCommand struct {
	pkg string
	as  string
}

// Static, without paths of this machine, and without symbols. A change here recompiles everything.
var (
	goBuildFlags = []string{"-trimpath"}
	goBuildEnv   = []string{"CGO_ENABLED=0", "GOFLAGS=-mod=mod", "GOWORK=off", "GOGC=400"}
)

const goStrip = "-s -w"

func (p goBinaries) component() string      { return p.name }
func (p goBinaries) version() string        { return p.release }
func (p goBinaries) needs() []recipe        { return nil }
func (p goBinaries) usually() time.Duration { return p.takes }

func (p goBinaries) inputs() []string {
	inputs := []string{p.toolchain, p.staging, p.tags, p.ldflags, fmt.Sprint(goBuildFlags), fmt.Sprint(goBuildEnv)}
	for _, module := range p.modules {
		inputs = append(inputs, module.Path+"@"+module.Version)
	}
	for _, command := range p.commands {
		inputs = append(inputs, command.pkg+" as "+command.file())
	}
	if p.source != "" {
		inputs = append(inputs, p.source)
	}
	if p.cgo {
		inputs = append(inputs, "cgo")
	}
	return append(inputs, p.proofInputs...)
}

func (p goBinaries) build(ctx context.Context, shop *workshop, dir string) error {
	source, bin := filepath.Join(dir, "module"), filepath.Join(dir, "bin")
	for _, made := range []string{source, bin} {
		if err := os.Mkdir(made, 0o755); err != nil {
			return fmt.Errorf("creating directory: %w", err)
		}
	}
	if err := writeModule(ctx, shop, source, p.name, p.staging, p.modules); err != nil {
		return err
	}
	if p.source != "" {
		if err := os.WriteFile(filepath.Join(source, "main.go"), []byte(p.source), 0o644); err != nil {
			return fmt.Errorf("writing main.go: %w", err)
		}
	}
	var packages []string
	for _, command := range p.commands {
		packages = append(packages, command.pkg)
	}
	if err := p.compile(ctx, shop, source, bin, packages...); err != nil {
		return err
	}
	if err := p.rename(bin); err != nil {
		return err
	}
	if p.proof != nil {
		return p.proof(ctx, shop, bin)
	}
	return nil
}

// compile builds packages in a module of writeModule.
func (p goBinaries) compile(ctx context.Context, shop *workshop, source, bin string, packages ...string) error {
	argv := append([]string{"go", "build"}, goBuildFlags...)
	argv = append(argv, "-tags", p.tags, "-ldflags", p.ldflags, "-o", bin+"/")
	env := goBuildEnv
	if p.cgo {
		env = append(slices.Clone(env), "CGO_ENABLED=1")
	}
	return shop.run(ctx, command{argv: append(argv, packages...), dir: source, env: env})
}

// rename gives each binary its file name.
func (p goBinaries) rename(bin string) error {
	for _, command := range p.commands {
		if own := ownName(command.pkg); own != command.file() {
			if err := os.Rename(filepath.Join(bin, own), filepath.Join(bin, command.file())); err != nil {
				return fmt.Errorf("naming %s: %w", command.file(), err)
			}
		}
	}
	return nil
}

func (c goCommand) file() string {
	if c.as != "" {
		return c.as
	}
	return ownName(c.pkg)
}

var majorSuffix = regexp.MustCompile(`^v[0-9]+$`)

// ownName returns the name that `go build` gives a binary.
func ownName(pkg string) string {
	if majorSuffix.MatchString(path.Base(pkg)) {
		pkg = path.Dir(pkg)
	}
	return path.Base(pkg)
}

// setVariables returns the linker flags that set string variables of a package.
func setVariables(pkg string, values ...string) string {
	var flags strings.Builder
	for _, value := range values {
		fmt.Fprintf(&flags, " -X %s.%s", pkg, value)
	}
	return flags.String()
}
