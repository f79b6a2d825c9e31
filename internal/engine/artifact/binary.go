package artifact

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// The limits of a binary that prints its version.
const (
	runTimeout = 30 * time.Second
	maxOutput  = 64 << 10
)

// query is how a binary prints its version, and where in its output the version is.
type query struct {
	args     []string
	pattern  *regexp.Regexp
	optional bool // it may not know its version
}

// queries are the binaries that print their version. The arguments are fixed and have no other
// effect.
var queries = map[string]query{
	"kubeadm":                 {args: []string{"version", "-o", "short"}, pattern: regexp.MustCompile(`(?m)^(v\S+)$`)},
	"kubelet":                 {args: []string{"--version"}, pattern: regexp.MustCompile(`(?m)^Kubernetes (v\S+)$`)},
	"kubectl":                 {args: []string{"version", "--client=true", "-o", "json"}, pattern: regexp.MustCompile(`"gitVersion": "([^"]+)"`)},
	"containerd":              {args: []string{"--version"}, pattern: regexp.MustCompile(`(?m)^containerd \S+ (\S+)`)},
	"ctr":                     {args: []string{"--version"}, pattern: regexp.MustCompile(`(?m)^ctr \S+ (\S+)`)},
	"containerd-shim-runc-v2": {args: []string{"-v"}, pattern: regexp.MustCompile(`(?m)^\s*Version:\s+(\S+)$`)},
	"runc":                    {args: []string{"--version"}, pattern: regexp.MustCompile(`(?m)^runc version (\S+)$`)},
}

// pluginQuery is the query of CNI plugins: without a command in their environment they print their
// version if it was set in the build.
var pluginQuery = query{pattern: regexp.MustCompile(`(?m)^CNI \S+ plugin (?:version )?(v?[0-9]\S*)$`), optional: true}

// environment is the environment of queried binaries: nothing of this process, and no home
// directory with settings.
var environment = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C", "HOME=/nonexistent", "KUBERC=off"}

// CheckBinary checks that a file has the platform and the version that the ClusterRelease claims:
// its digest does not prove that the right file was released. It reads the platform before it runs
// the file.
func CheckBinary(ctx context.Context, path string, f refitv1alpha1.ReleaseFile) error {
	switch f.Kind {
	case refitv1alpha1.PackageDeb:
		return checkPackage(ctx, path, f, ReadDeb)
	case refitv1alpha1.PackageRpm:
		return checkPackage(ctx, path, f, ReadRpm)
	case refitv1alpha1.PackageBinary:
	default:
		return node.ManualIntervention("KindUnknown", nil, "Use a ClusterRelease with binaries, Debian packages or rpm packages",
			"%s: packages of kind %s are not supported", f.Name, f.Kind)
	}
	platform, err := PlatformOf(path)
	if err != nil {
		return wrongFile("WrongPlatform", "%s cannot run on this host: %v", f.Name, err)
	}
	if here := platformOf(runtime.GOOS, runtime.GOARCH); platform != platformOf(f.OS, f.Arch) || platform != here {
		return wrongFile("WrongPlatform", "%s is built for %s, but the ClusterRelease names %s/%s and this host is %s", f.Name, platform, f.OS, f.Arch, here)
	}
	version, err := BinaryVersion(ctx, path, f.Name)
	if err != nil {
		return err
	}
	if version != "" && version != f.Version {
		return wrongFile("WrongVersion", "%s has version %s, but the ClusterRelease names %s", f.Name, version, f.Version)
	}
	return nil
}

// BinaryVersion runs a binary of this platform to get its version. It is empty for a CNI plugin
// that does not know its version.
func BinaryVersion(ctx context.Context, path, name string) (string, error) {
	query, known := queries[name]
	if !known {
		if part, ok := PartOfBinary(name); !ok || part != refitv1alpha1.PartCNI {
			return "", fmt.Errorf("the version of %q cannot be queried", name)
		}
		query = pluginQuery
	}
	output, err := run(ctx, path, query.args...)
	if err != nil {
		return "", runFailure(ctx, name, err)
	}
	match := query.pattern.FindSubmatch(output)
	switch {
	case match == nil && query.optional:
		return "", nil
	case match == nil:
		return "", wrongFile("WrongVersion", "%s does not print its version", name)
	}
	return refitv1alpha1.Clip(string(match[1]), 80), nil
}

// run runs a binary with fixed arguments and returns its output.
func run(ctx context.Context, path string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	for wait := 10 * time.Millisecond; ; wait *= 2 {
		out := &bounded{max: maxOutput}
		cmd := exec.CommandContext(ctx, path, args...)
		cmd.Env, cmd.Dir = environment, "/"
		cmd.Stdout, cmd.Stderr = out, out
		cmd.WaitDelay = 10 * time.Second // a busy host needs time to read the output
		err := cmd.Run()
		// Another thread may have forked while the file was open for writing, so that the child has
		// the file open until it executes.
		if errors.Is(err, syscall.ETXTBSY) && wait < time.Second && sleep(ctx, wait) == nil {
			continue
		}
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("%w (%s)", err, strings.Join(strings.Fields(refitv1alpha1.Clip(out.kept.String(), 300)), " "))
		}
		return out.kept.Bytes(), nil
	}
}

// runFailure returns the failure of a binary whose version cannot be queried.
func runFailure(ctx context.Context, name string, err error) error {
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("cannot query the version of %s: %w", name, ctx.Err())
	case errors.Is(err, context.DeadlineExceeded):
		return node.Transient("ProgramSilent", nil, "Refit retries; check whether the host is overloaded",
			"%s did not print its version within %s", name, runTimeout)
	case errors.Is(err, fs.ErrPermission):
		return node.ManualIntervention("ProgramCannotRun", err, "Mount the directory of the agent without noexec, then run `refit retry`",
			"cannot execute %s in the store of the agent", name)
	}
	return node.ManualIntervention("ProgramCannotRun", err, "Use a ClusterRelease with a binary that runs on this host", "%s does not run on this host", name)
}

func wrongFile(reason, format string, args ...any) error {
	return node.ManualIntervention(reason, nil, "Create the ClusterRelease again with the right file (`refit release create`), sign it, and plan again",
		format, args...)
}

// bounded keeps the beginning of what is written to it. The buffer is not embedded: its ReadFrom
// has no limit.
type bounded struct {
	kept bytes.Buffer
	max  int
}

func (b *bounded) Write(what []byte) (int, error) {
	if left := b.max - b.kept.Len(); left > 0 {
		b.kept.Write(what[:min(left, len(what))])
	}
	return len(what), nil
}
