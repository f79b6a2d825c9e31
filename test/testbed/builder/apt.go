package builder

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// aptMountPoint is the path of the repository on nodes.
const aptMountPoint = "/srv/apt"

// An aptRepository is a flat repository that only grows: pool/*.deb and an index. It is not signed;
// nodes trust it by its path.
type aptRepository struct{ dir string }

// aptIndex are the files of the index, in the order of their replacement.
var aptIndex = []string{"Packages", "Release"}

// publish adds the packages of a release to the repository, unless it has them.
func (b *Builder) publish(ctx context.Context, p parts) error {
	debs, err := debsOf(b.cache, p.debs())
	if err != nil {
		return err
	}
	if b.apt.holds(debs) {
		return nil
	}
	return b.locked(ctx, func() error {
		return b.report.Step("index the apt repository", 0, func() error { return b.apt.publish(ctx, debs) })
	})
}

// debsOf lists the deb packages of finished entries.
func debsOf(c cache, entries []recipe) ([]string, error) {
	var debs []string
	for _, r := range entries {
		found, err := filepath.Glob(filepath.Join(c.entry(r), "debs", "*.deb"))
		if err != nil || len(found) == 0 {
			return nil, fmt.Errorf("the entry of %s contains no packages", title(r))
		}
		debs = append(debs, found...)
	}
	return debs, nil
}

// holds reports whether the repository has exactly these files, and its index names them.
func (a aptRepository) holds(debs []string) bool {
	if _, err := os.Stat(filepath.Join(a.dir, "Release")); err != nil {
		return false
	}
	packages, err := os.ReadFile(filepath.Join(a.dir, "Packages"))
	if err != nil {
		return false
	}
	for _, deb := range debs {
		theirs, err := os.Stat(deb)
		if err != nil {
			return false
		}
		name := filepath.Join("pool", filepath.Base(deb))
		ours, err := os.Stat(filepath.Join(a.dir, name))
		if err != nil || !os.SameFile(ours, theirs) || !strings.Contains(string(packages), "Filename: "+name+"\n") {
			return false
		}
	}
	return true
}

// publish adds packages and rewrites the index. The caller holds the build lock.
func (a aptRepository) publish(ctx context.Context, debs []string) error {
	pool, next := filepath.Join(a.dir, "pool"), filepath.Join(a.dir, "index"+partialSuffix)
	if err := os.RemoveAll(next); err != nil {
		return fmt.Errorf("publishing packages: %w", err)
	}
	for _, dir := range []string{pool, next} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("publishing packages: %w", err)
		}
	}
	for _, deb := range debs {
		if err := linkInto(pool, next, deb); err != nil {
			return err
		}
	}
	if err := a.writeIndex(ctx, next); err != nil {
		return err
	}
	// An apt that reads between the two renames sees a hash mismatch and retries.
	for _, name := range aptIndex {
		if err := os.Rename(filepath.Join(next, name), filepath.Join(a.dir, name)); err != nil {
			return fmt.Errorf("replacing the index: %w", err)
		}
	}
	return os.RemoveAll(next)
}

// linkInto adds a package to the pool atomically, replacing one of the same name.
func linkInto(pool, staging, deb string) error {
	link := filepath.Join(staging, filepath.Base(deb))
	if err := os.Link(deb, link); err != nil {
		return fmt.Errorf("adding package: %w", err)
	}
	to := filepath.Join(pool, filepath.Base(deb))
	if err := os.Rename(link, to); err != nil {
		return fmt.Errorf("adding package: %w", err)
	}
	return nil
}

// writeIndex lists the whole pool in Packages, and Packages in Release.
func (a aptRepository) writeIndex(ctx context.Context, into string) error {
	steps := []struct {
		file string
		command
	}{
		{"Packages", command{argv: []string{"apt-ftparchive", "packages", "pool"}, dir: a.dir}},
		{"Release", command{argv: []string{"apt-ftparchive", "release", "."}, dir: into}},
	}
	for _, step := range steps {
		var out, complaints strings.Builder
		if err := step.run(ctx, &out, &complaints, &complaints); err != nil {
			return fmt.Errorf("indexing packages: %w\n%s", err, tail(complaints.String(), tailLines))
		}
		if err := os.WriteFile(filepath.Join(into, step.file), []byte(out.String()), 0o644); err != nil {
			return fmt.Errorf("indexing packages: %w", err)
		}
	}
	return nil
}
