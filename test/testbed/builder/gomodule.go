package builder

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A goModule is a module at a version.
type goModule struct {
	Path    string
	Version string
}

// goMod is the part of `go mod edit -json` that we read.
type goMod struct {
	Go      string
	Require []goModule
	Replace []struct {
		Old goModule
		New goModule
	}
}

// writeModule creates a module in dir that builds binaries of upstream modules with the
// dependencies of the first one.
//
// `go install kubernetes/cmd/kubelet@v1.36.3` fails, because k8s.io/kubernetes replaces its
// libraries with ./staging; our own module can replace them with the published libraries (staging)
// instead.
func writeModule(ctx context.Context, shop *workshop, dir, name, staging string, upstream []goModule) error {
	source, err := downloadModule(ctx, shop, upstream[0])
	if err != nil {
		return err
	}
	text, err := shop.output(ctx, command{argv: []string{"go", "mod", "edit", "-json", filepath.Join(source, "go.mod")}, dir: dir})
	if err != nil {
		return fmt.Errorf("reading go.mod of %s: %w", upstream[0].Path, err)
	}
	var theirs goMod
	if err := json.Unmarshal([]byte(text), &theirs); err != nil {
		return fmt.Errorf("reading go.mod of %s: %w", upstream[0].Path, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(moduleText(name, theirs, staging, upstream)), 0o644); err != nil {
		return fmt.Errorf("writing go.mod: %w", err)
	}
	sums, err := os.ReadFile(filepath.Join(source, "go.sum"))
	if err != nil {
		return fmt.Errorf("reading go.sum of %s: %w", upstream[0].Path, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o644); err != nil {
		return fmt.Errorf("writing go.sum: %w", err)
	}
	return nil
}

// moduleText returns the go.mod of our module: upstream itself, then its requirements, with the
// libraries that it replaces with a local directory at staging.
func moduleText(name string, theirs goMod, staging string, upstream []goModule) string {
	var text strings.Builder
	fmt.Fprintf(&text, "module refit.testbed/%s\n\ngo %s\n\nrequire (\n", name, theirs.Go)
	ours := map[string]bool{}
	for _, module := range upstream {
		ours[module.Path] = true
		fmt.Fprintf(&text, "\t%s %s\n", module.Path, module.Version)
	}
	local := localReplacements(theirs)
	for _, module := range theirs.Require {
		switch {
		case ours[module.Path]:
		case staging != "" && local[module.Path]:
			fmt.Fprintf(&text, "\t%s %s\n", module.Path, staging)
		default:
			fmt.Fprintf(&text, "\t%s %s\n", module.Path, module.Version)
		}
	}
	text.WriteString(")\n")
	if staging != "" {
		text.WriteString("\nreplace (\n")
		for _, replace := range theirs.Replace {
			if local[replace.Old.Path] {
				fmt.Fprintf(&text, "\t%s => %s %s\n", replace.Old.Path, replace.Old.Path, staging)
			}
		}
		text.WriteString(")\n")
	}
	return text.String()
}

// localReplacements returns the modules that a go.mod replaces with a directory of its own
// repository.
func localReplacements(mod goMod) map[string]bool {
	local := map[string]bool{}
	for _, replace := range mod.Replace {
		if strings.HasPrefix(replace.New.Path, ".") {
			local[replace.Old.Path] = true
		}
	}
	return local
}

// downloadModule returns the directory of a module's source.
func downloadModule(ctx context.Context, shop *workshop, module goModule) (string, error) {
	argv := []string{"go", "mod", "download", "-json", module.Path + "@" + module.Version}
	// The directory of the cache has no go.mod that could select another version.
	text, err := shop.output(ctx, command{argv: argv, dir: shop.cache.dir, env: []string{"GOWORK=off"}})
	if err != nil {
		return "", fmt.Errorf("downloading %s@%s: %w", module.Path, module.Version, err)
	}
	var got struct{ Dir, Error string }
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		return "", fmt.Errorf("downloading %s@%s: %w", module.Path, module.Version, err)
	}
	if got.Dir == "" {
		return "", fmt.Errorf("downloading %s@%s: %s", module.Path, module.Version, got.Error)
	}
	return got.Dir, nil
}
