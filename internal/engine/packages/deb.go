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

// Deb returns the driver for hosts that were installed from deb packages. It runs dpkg instead of
// apt: the files are known, nothing may be downloaded, added or removed, and apt's hooks
// (needrestart for one) would restart services.
func Deb() Driver {
	return deb{
		root: "/", admin: "/var/lib/dpkg", archives: "/var/cache/apt/archives",
		lockTimeout: LockTimeout, fetchTimeout: FetchTimeout, fetch: true,
	}
}

// FetchTimeout bounds the wait for a repository.
const FetchTimeout = 30 * time.Second

// deb is a driver for one dpkg database. Only tests use another one than the host's.
type deb struct {
	root, admin, archives string
	// flags precede the options of each dpkg call.
	flags []string
	// lockTimeout bounds the wait for another package manager, fetchTimeout that for a repository.
	lockTimeout, fetchTimeout time.Duration
	// fetch allows a download of the installed version from the host's repositories.
	fetch bool
}

func (deb) Kind() refitv1alpha1.PackageKind { return refitv1alpha1.PackageDeb }

// nameSyntax is that of the Debian policy. dpkg could read anything else as a pattern or an option.
var nameSyntax = regexp.MustCompile(`^[a-z0-9][a-z0-9+.-]+$`)

func checkNames(names []string) error {
	for _, name := range names {
		if !nameSyntax.MatchString(name) {
			return node.ManualIntervention("InvalidPackageName", nil,
				"Create a ClusterRelease whose package names have only lower case letters, digits, + - .: `refit release create`",
				"%q is not a valid package name", name)
		}
	}
	return nil
}

// Owner also searches for the aliases of a path: a package may own /lib/x on a host where /lib is a
// link to /usr/lib.
func (d deb) Owner(ctx context.Context, path string) (string, error) {
	for _, alias := range aliases(path) {
		out, err := d.query(ctx, "--search", "--", escape.Replace(alias))
		if err != nil {
			if exitCode(err) == 1 {
				continue
			}
			return "", wrap(err, "cannot find the package of %s", path)
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

// escape prevents that dpkg reads a path as a pattern.
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

// Installed omits packages that are half-installed or not configured: for a step they are not
// installed.
func (d deb) Installed(ctx context.Context, names ...string) (map[string]string, error) {
	found, err := d.states(ctx, names...)
	if err != nil {
		return nil, err
	}
	return installedVersions(found), nil
}

func installedVersions(found map[string]state) map[string]string {
	versions := map[string]string{}
	for name, s := range found {
		if s.installed() {
			versions[name] = s.version
		}
	}
	return versions
}

// Settled changes nothing: dpkg itself finishes packages, by `dpkg --configure`.
func (d deb) Settled(ctx context.Context, names ...string) (map[string]string, error) {
	found, err := d.settledStates(ctx, names...)
	return installedVersions(found), err
}

// settledStates returns the states of packages that dpkg has finished.
func (d deb) settledStates(ctx context.Context, names ...string) (map[string]state, error) {
	found, err := d.states(ctx, names...)
	if err != nil {
		return nil, err
	}
	for _, name := range sortedNames(found, state.interrupted) {
		status := found[name].text()
		return nil, node.HostBroken(HalfInstalled, nil,
			"Run `dpkg --configure -a` on the host (`dpkg --audit` lists unfinished packages), then run `refit retry`",
			"dpkg has not finished package %s: its status is %s", name, status)
	}
	return found, nil
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
