package packages

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Deb is the driver for hosts that were installed from deb packages. It uses dpkg itself and not apt: the files are known, nothing may be fetched, added or
// removed, and apt's hooks (needrestart for one) would restart services.
func Deb() Driver {
	return deb{root: "/", admin: "/var/lib/dpkg", archives: "/var/cache/apt/archives", lockWait: 5 * time.Minute, fetchWait: 30 * time.Second, fetch: true}
}

// deb works on one dpkg database. Only tests use one that is not the host's.
type deb struct {
	root, admin, archives string
	// flags come before those of each call of dpkg.
	flags []string
	// lockWait is how long another package manager is waited for; fetchWait how long a repository is.
	lockWait, fetchWait time.Duration
	fetch               bool
}

func (deb) Kind() refitv1alpha1.PackageKind { return refitv1alpha1.PackageDeb }

// nameSyntax is what the policy of Debian allows. Anything else could be read as a pattern or an option.
var nameSyntax = regexp.MustCompile(`^[a-z0-9][a-z0-9+.-]+$`)

func checkNames(names []string) error {
	for _, name := range names {
		if !nameSyntax.MatchString(name) {
			return node.ManualIntervention("BadPackageName", nil, "correct the ClusterRelease: a package's name has lower case letters, digits, + - .",
				"%q is no name of a package", name)
		}
	}
	return nil
}

// Owner asks for a path also by its other names: a package may own /lib/x on a host where /lib is a link to /usr/lib.
func (d deb) Owner(ctx context.Context, path string) (string, error) {
	for _, alias := range aliases(path) {
		out, err := d.query(ctx, "--search", "--", escape.Replace(alias))
		if err != nil {
			if exitCode(err) == 1 {
				continue
			}
			return "", wrap(err, "asking dpkg who owns %s", path)
		}
		for line := range strings.Lines(out) {
			owners, owned, ok := strings.Cut(strings.TrimSpace(line), ": ")
			if !ok || owned != alias || strings.HasPrefix(owners, "diversion by ") {
				continue
			}
			first, _, _ := strings.Cut(owners, ",")
			name, _, _ := strings.Cut(first, ":") // without the architecture
			return name, nil
		}
	}
	return "", nil
}

// escape keeps dpkg from reading a path as a pattern.
var escape = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

func aliases(path string) []string {
	all := []string{filepath.Clean(path)}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		all = append(all, resolved)
	}
	for _, p := range all {
		if short, ok := strings.CutPrefix(p, "/usr"); ok {
			all = append(all, short)
		} else {
			all = append(all, "/usr"+p)
		}
	}
	return all
}

// Installed leaves out what is only half installed or not configured yet: that is not there as far as a step is concerned.
func (d deb) Installed(ctx context.Context, names ...string) (map[string]string, error) {
	found, err := d.states(ctx, names...)
	if err != nil {
		return nil, err
	}
	versions := map[string]string{}
	for name, s := range found {
		if s.installed() {
			versions[name] = s.version
		}
	}
	return versions, nil
}

// Held returns the packages that `apt-mark hold` or its like marked.
func (d deb) Held(ctx context.Context) ([]string, error) {
	all, err := d.list(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range all {
		if s.want == "hold" {
			names = append(names, s.name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
