package kubeadm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

const thenRetry = ", then say refit retry"

var (
	// away are the words of client-go, of the API server and of etcd when one of them is not there at the moment, or not ready yet.
	away = regexp.MustCompile(`(?i)connection refused|connection reset|broken pipe|i/o timeout|no route to host|network is unreachable|TLS handshake timeout` +
		`|unexpected EOF|: EOF|context deadline exceeded|client rate limiter|request timed out|Client\.Timeout|time allotted|server is currently unable` +
		`|too many requests|etcdserver: |apiserver not ready|is shutting down|timed out waiting for the condition|http2: (?:client|server) connection`)
	// notYet is an API server that has not read its RBAC rules yet.
	notYet = regexp.MustCompile(`RBAC: .*not found|RBAC: \[.*not found`)
	// changed is a write that came between.
	changed = regexp.MustCompile(`the object has been modified`)
	// kubeadm names the directory of its backups by the second, and fails when it is run twice in one.
	sameSecond = regexp.MustCompile(`could not create timestamp directory: .*file exists`)
	// A kubelet that was just started shows its static pods anew, and for a moment not at all.
	notShown = regexp.MustCompile(`cannot find kube-apiserver (?:Pod|image)`)
	denied   = regexp.MustCompile(`(?i)\bforbidden\b|\bunauthorized\b`)
	refused  = regexp.MustCompile(`(?m)^\s*\[ERROR (\w+)\]: (.*)$`)
)

// failed makes of a run that failed what a person is told.
func (k Kubeadm) failed(ctx context.Context, what string, out output, err error) error {
	failure := classify(ctx, k.Path, what, out.Combined, err)
	failure.LogTail = refitv1alpha1.ClipFront(out.Combined, refitv1alpha1.MaxLogTail)
	return failure
}

func classify(ctx context.Context, path, what, said string, err error) *node.Failure {
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return node.Transient("KubeadmCutOff", err, "it is tried again; see its log if this repeats", "kubeadm %s was cut off before it ended", what)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, exec.ErrNotFound), !errors.As(err, &exit):
		return node.HostBroken("KubeadmBroken", err, "see why "+path+" cannot be run on this host"+thenRetry, "kubeadm cannot be run")
	case refused.MatchString(said):
		return preflightRefused(said, err)
	case sameSecond.MatchString(said):
		return node.Transient("SameSecond", err, "it is tried again", "kubeadm %s was run twice within a second: %s", what, lastWords(said))
	case notShown.MatchString(lastError(said)):
		return node.Transient("MirrorPodStale", err, "see the kubelet's log on this host: it shows this pod to the API",
			"kubeadm %s did not find the API server's pod: %s", what, lastWords(said))
	case changed.MatchString(said):
		return node.Transient("Conflict", err, "it is tried again", "kubeadm %s met another writer: %s", what, lastWords(said))
	case notYet.MatchString(said), away.MatchString(lastError(said)):
		return node.Transient("APIUnavailable", err, "it is tried again; see that the API server and etcd are well", "kubeadm %s could not reach the API: %s",
			what, lastWords(said))
	case denied.MatchString(lastError(said)):
		return node.ManualIntervention("KubeadmDenied", err, "see what the kubeconfig on this host may do"+thenRetry,
			"kubeadm %s was denied: %s", what, lastWords(said))
	default:
		return node.ManualIntervention("KubeadmFailed", err, "mend what its words name"+thenRetry, "kubeadm %s failed: %s", what, lastWords(said))
	}
}

// preflightRefused: an error such as [ERROR ControlPlaneNodesReady] is for a person, except where the API was not there to be asked.
func preflightRefused(said string, err error) *node.Failure {
	var lines, names []string
	gone := true
	for _, match := range refused.FindAllStringSubmatch(said, -1) {
		names = append(names, match[1])
		lines = append(lines, match[1]+": "+match[2])
		gone = gone && away.MatchString(match[2])
	}
	message := strings.Join(lines, "; ")
	if gone {
		return node.Transient("APIUnavailable", err, "it is tried again; see that the API server and etcd are well",
			"kubeadm's own checks could not be made: %s", message)
	}
	return node.ManualIntervention("PreflightRefused", err,
		fmt.Sprintf("mend it, or let the agent on this host ignore %s%s", strings.Join(names, ","), thenRetry), "kubeadm's own checks refuse: %s", message)
}

// lastError is what kubeadm says at its end: the line that begins with "error", and all behind it.
func lastError(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	for i, line := range slices.Backward(lines) {
		if strings.HasPrefix(line, "error") || strings.HasPrefix(line, "Error") {
			return strings.Join(lines[i:], "\n")
		}
	}
	return lines[len(lines)-1]
}

// lastWords are lastError on one line, without the frame that is always the same.
func lastWords(said string) string {
	text, _, _ := strings.Cut(lastError(said), "To see the stack trace")
	text = strings.Join(strings.Fields(text), " ")
	return refitv1alpha1.Clip(frame.ReplaceAllString(text, ""), refitv1alpha1.MaxMessage)
}

var (
	frame = regexp.MustCompile(`^[Ee]rror: (?:error execution phase [\w/-]+: )?`)
	color = regexp.MustCompile(`\x1b\[[0-9;]*m`)
)

// ownWords are what kubeadm itself says in a dry run, in which it also prints every object that it read: pods with their environment are nobody
// else's business.
func ownWords(said string) string {
	lines := strings.Split(color.ReplaceAllString(said, ""), "\n")
	var own []string
	for i, line := range lines {
		if strings.HasPrefix(line, "error") {
			own = append(own, lines[i:]...)
			break
		}
		if strings.HasPrefix(strings.TrimLeft(line, "\t"), "[") && !strings.HasPrefix(line, "[dryrun]") || klogLine.MatchString(line) {
			own = append(own, line)
		}
	}
	return strings.Join(own, "\n")
}

var klogLine = regexp.MustCompile(`^[IWEF]\d{4} \d\d:`)
