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

const (
	thenRetry   = ", then run `refit retry`"
	reportFault = "Report this fault of Refit: https://github.com/refit-dev/refit/issues"
)

var (
	// unavailable matches errors of client-go, the API server and etcd while one of them is
	// unreachable or not ready.
	unavailable = regexp.MustCompile(`(?i)connection refused|connection reset|broken pipe|i/o timeout|no route to host|network is unreachable` +
		`|TLS handshake timeout|unexpected EOF|: EOF|context deadline exceeded|client rate limiter|request timed out|Client\.Timeout` +
		`|time allotted|server is currently unable` +
		`|too many requests|etcdserver: |apiserver not ready|is shutting down|timed out waiting for the condition|http2: (?:client|server) connection`)
	// rbacNotLoaded matches the error of an API server that has not loaded its RBAC rules yet.
	rbacNotLoaded = regexp.MustCompile(`RBAC: .*not found|RBAC: \[.*not found`)
	// conflict matches the error of a concurrent write.
	conflict = regexp.MustCompile(`the object has been modified`)
	// backupExists matches the error of a kubeadm that runs twice within a second: it names its
	// backup directory by the second.
	backupExists = regexp.MustCompile(`could not create timestamp directory: .*file exists`)
	// podMissing matches the error while a kubelet that just started recreates its mirror pods.
	podMissing     = regexp.MustCompile(`cannot find kube-apiserver (?:Pod|image)`)
	denied         = regexp.MustCompile(`(?i)\bforbidden\b|\bunauthorized\b`)
	preflightError = regexp.MustCompile(`(?m)^\s*\[ERROR (\w+)\]: (.*)$`)
)

// failed returns the failure of a run.
func (k Kubeadm) failed(ctx context.Context, command string, out output, err error) error {
	failure := classify(ctx, k.Path, command, out.Combined, err)
	failure.LogTail = refitv1alpha1.ClipFront(out.Combined, refitv1alpha1.MaxLogTail)
	return failure
}

func classify(ctx context.Context, path, command, output string, err error) *node.Failure {
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return node.Transient("KubeadmInterrupted", err, "Refit retries; check its log if this repeats", "kubeadm %s was interrupted", command)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, exec.ErrNotFound), !errors.As(err, &exit):
		return node.HostBroken("KubeadmBroken", err, "Check why "+path+" does not run on this host"+thenRetry, "cannot run kubeadm")
	case preflightError.MatchString(output):
		return preflightFailed(output, err)
	case backupExists.MatchString(output):
		return node.Transient("SameSecond", err, "Refit retries", "kubeadm %s ran twice within a second: %s", command, lastMessage(output))
	case podMissing.MatchString(lastError(output)):
		return node.Transient("MirrorPodStale", err, "Check the log of the kubelet on this host, which writes this pod to the API",
			"kubeadm %s did not find the pod of the API server: %s", command, lastMessage(output))
	case conflict.MatchString(output):
		return node.Transient("Conflict", err, "Refit retries", "kubeadm %s had a conflict: %s", command, lastMessage(output))
	case rbacNotLoaded.MatchString(output), unavailable.MatchString(lastError(output)):
		return node.Transient("APIUnavailable", err, "Refit retries; check that the API server and etcd are healthy", "kubeadm %s could not reach the API: %s",
			command, lastMessage(output))
	case denied.MatchString(lastError(output)):
		return node.ManualIntervention("KubeadmDenied", err, "Check the permissions of the kubeconfig on this host"+thenRetry,
			"kubeadm %s was denied: %s", command, lastMessage(output))
	default:
		return node.ManualIntervention("KubeadmFailed", err, "Fix the cause in its output"+thenRetry, "kubeadm %s failed: %s", command, lastMessage(output))
	}
}

// preflightFailed returns the failure of preflight errors such as [ERROR ControlPlaneNodesReady].
// They are transient if all of them are due to an unreachable API.
func preflightFailed(output string, err error) *node.Failure {
	var lines, names []string
	unreachable := true
	for _, match := range preflightError.FindAllStringSubmatch(output, -1) {
		names = append(names, match[1])
		lines = append(lines, match[1]+": "+match[2])
		unreachable = unreachable && unavailable.MatchString(match[2])
	}
	message := strings.Join(lines, "; ")
	if unreachable {
		return node.Transient("APIUnavailable", err, "Refit retries; check that the API server and etcd are healthy",
			"cannot run the preflight checks of kubeadm: %s", message)
	}
	return node.ManualIntervention("PreflightRefused", err,
		fmt.Sprintf("Fix it, or add %s to kubeadm.ignorePreflightErrors in /etc/refit/agent.yaml and run `systemctl restart refit-agent`%s",
			strings.Join(names, ","), thenRetry),
		"the preflight checks of kubeadm failed: %s", message)
}

// lastError returns the last error in the output: the line that begins with "error", and everything
// after it.
func lastError(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	for i, line := range slices.Backward(lines) {
		if strings.HasPrefix(line, "error") || strings.HasPrefix(line, "Error") {
			return strings.Join(lines[i:], "\n")
		}
	}
	return lines[len(lines)-1]
}

// lastMessage returns lastError in one line, without the prefix that all errors have.
func lastMessage(output string) string {
	text, _, _ := strings.Cut(lastError(output), "To see the stack trace")
	text = strings.Join(strings.Fields(text), " ")
	return refitv1alpha1.Clip(errorPrefix.ReplaceAllString(text, ""), refitv1alpha1.MaxMessage)
}

var (
	errorPrefix = regexp.MustCompile(`^[Ee]rror: (?:error execution phase [\w/-]+: )?`)
	color       = regexp.MustCompile(`\x1b\[[0-9;]*m`)
)

// withoutObjects removes objects from the output of a dry run, in which kubeadm prints everything
// it read: the environment of a pod may contain secrets.
func withoutObjects(output string) string {
	lines := strings.Split(color.ReplaceAllString(output, ""), "\n")
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
