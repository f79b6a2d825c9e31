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

// How long a program may take to say what it is, and how much it may say.
const (
	askWithin = 30 * time.Second
	mostSaid  = 64 << 10
)

// question is how a program is asked for its version, and where in its answer that is.
type question struct {
	args   []string
	answer *regexp.Regexp
	quiet  bool // it may not know its version
}

// questions are the programs that can be asked. The arguments are fixed, and none of them does anything else than answer.
var questions = map[string]question{
	"kubeadm":                 {args: []string{"version", "-o", "short"}, answer: regexp.MustCompile(`(?m)^(v\S+)$`)},
	"kubelet":                 {args: []string{"--version"}, answer: regexp.MustCompile(`(?m)^Kubernetes (v\S+)$`)},
	"kubectl":                 {args: []string{"version", "--client=true", "-o", "json"}, answer: regexp.MustCompile(`"gitVersion": "([^"]+)"`)},
	"containerd":              {args: []string{"--version"}, answer: regexp.MustCompile(`(?m)^containerd \S+ (\S+)`)},
	"ctr":                     {args: []string{"--version"}, answer: regexp.MustCompile(`(?m)^ctr \S+ (\S+)`)},
	"containerd-shim-runc-v2": {args: []string{"-v"}, answer: regexp.MustCompile(`(?m)^\s*Version:\s+(\S+)$`)},
	"runc":                    {args: []string{"--version"}, answer: regexp.MustCompile(`(?m)^runc version (\S+)$`)},
}

// pluginQuestion is for CNI plugins: without a command in their environment they say what they are, if their builder told them.
var pluginQuestion = question{answer: regexp.MustCompile(`(?m)^CNI \S+ plugin (?:version )?(v?[0-9]\S*)$`), quiet: true}

// cleanEnvironment is all that a program that is asked sees: nothing of ours, and no home in which it would look for settings.
var cleanEnvironment = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C", "HOME=/nonexistent", "KUBERC=off"}

// CheckProgram proves that a file is what the ClusterRelease says, beyond its digest: whoever made the ClusterRelease may have taken the wrong one. Its platform is read
// before anything of it runs.
func CheckProgram(ctx context.Context, path string, f refitv1alpha1.ReleaseFile) error {
	if f.Kind == refitv1alpha1.PackageDeb {
		return checkDeb(ctx, path, f)
	}
	if f.Kind != refitv1alpha1.PackageBinary {
		return node.ManualIntervention("KindUnknown", nil, "use a ClusterRelease with programs or Debian packages",
			"%s: packages of kind %s cannot be checked yet", f.Name, f.Kind)
	}
	platform, err := PlatformOf(path)
	if err != nil {
		return wrongFile("WrongPlatform", "%s cannot run here: %v", f.Name, err)
	}
	if here := platformOf(runtime.GOOS, runtime.GOARCH); platform != platformOf(f.OS, f.Arch) || platform != here {
		return wrongFile("WrongPlatform", "%s is made for %s; the ClusterRelease says %s/%s, and this host is %s", f.Name, platform, f.OS, f.Arch, here)
	}
	version, err := ProgramVersion(ctx, path, f.Name)
	if err != nil {
		return err
	}
	if version != "" && version != f.Version {
		return wrongFile("WrongVersion", "%s says that it is %s, and the ClusterRelease says %s", f.Name, version, f.Version)
	}
	return nil
}

// ProgramVersion asks a program of this platform which version it is. It is empty for one that does not know, as CNI plugins may.
func ProgramVersion(ctx context.Context, path, name string) (string, error) {
	ask, known := questions[name]
	if !known {
		if part, ok := PartOfProgram(name); !ok || part != refitv1alpha1.PartCNI {
			return "", fmt.Errorf("nobody knows how to ask %q for its version", name)
		}
		ask = pluginQuestion
	}
	said, err := run(ctx, path, ask.args...)
	if err != nil {
		return "", cannotRun(ctx, name, err)
	}
	match := ask.answer.FindSubmatch(said)
	switch {
	case match == nil && ask.quiet:
		return "", nil
	case match == nil:
		return "", wrongFile("WrongVersion", "%s does not say which version it is", name)
	}
	return refitv1alpha1.Clip(string(match[1]), 80), nil
}

// run runs a program with fixed arguments, and returns what it says.
func run(ctx context.Context, path string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	for wait := 10 * time.Millisecond; ; wait *= 2 {
		out := &bounded{most: mostSaid}
		cmd := exec.CommandContext(ctx, path, args...)
		cmd.Env, cmd.Dir = cleanEnvironment, "/"
		cmd.Stdout, cmd.Stderr = out, out
		cmd.WaitDelay = time.Second
		err := cmd.Run()
		// Another thread of this process may have started a program while the file was still open for writing, and given it its handle for a moment.
		if errors.Is(err, syscall.ETXTBSY) && wait < time.Second && pause(ctx, wait) == nil {
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

// cannotRun tells why a program could not be asked.
func cannotRun(ctx context.Context, name string, err error) error {
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("ask %s for its version: %w", name, ctx.Err())
	case errors.Is(err, context.DeadlineExceeded):
		return node.Transient("ProgramSilent", nil, "it is tried again; see whether the host is overloaded",
			"%s did not say its version within %s", name, askWithin)
	case errors.Is(err, fs.ErrPermission):
		return node.ManualIntervention("ProgramCannotRun", err, "mount the agent's directory without noexec, then say retry",
			"%s may not be run where the host keeps it", name)
	}
	return node.ManualIntervention("ProgramCannotRun", err, "use a ClusterRelease with a program that runs on this host", "%s does not run on this host", name)
}

func wrongFile(reason, format string, args ...any) error {
	return node.ManualIntervention(reason, nil, "make the ClusterRelease again with the right file (refit release create), sign it, and plan again", format, args...)
}

// bounded keeps the beginning of what is written to it. The buffer is no embedded one, whose ReadFrom would know no bounds.
type bounded struct {
	kept bytes.Buffer
	most int
}

func (b *bounded) Write(what []byte) (int, error) {
	if room := b.most - b.kept.Len(); room > 0 {
		b.kept.Write(what[:min(room, len(what))])
	}
	return len(what), nil
}
