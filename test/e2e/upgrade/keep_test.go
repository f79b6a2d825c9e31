//go:build e2e

package upgrade

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// The audit log of an API server, added to its manifest as an administrator does.
const (
	apiServerManifest = "/etc/kubernetes/manifests/kube-apiserver.yaml"
	auditPolicy       = "/etc/kubernetes/audit/policy.yaml"
	auditLog          = "/var/log/kubernetes/audit/audit.log"

	auditFlags = `    - --audit-policy-file=` + auditPolicy + `
    - --audit-log-path=` + auditLog + `
    - --audit-log-maxage=7
`
	auditMounts = `    - mountPath: /etc/kubernetes/audit
      name: audit-policy
      readOnly: true
    - mountPath: /var/log/kubernetes/audit
      name: audit-log
`
	auditVolumes = `  - hostPath:
      path: /etc/kubernetes/audit
      type: DirectoryOrCreate
    name: audit-policy
  - hostPath:
      path: /var/log/kubernetes/audit
      type: DirectoryOrCreate
    name: audit-log
`
)

// TestUpgradeKeep edits the manifest of an API server on two of three control plane nodes, then on
// all. The upgrade is blocked until `refit keep` has kept the settings, and then leaves them alone.
func TestUpgradeKeep(t *testing.T) {
	s := newSite(t, cluster.Spec{Name: "upkeep", ControlPlanes: 3, Workers: 1, Kubernetes: older}, inCluster)
	r := s.CreateRelease(t, newer)
	nodes := slices.DeleteFunc(s.Nodes(), func(n *cluster.Node) bool { return n.Role() != cluster.RoleControlPlane })
	first, last := nodes[0], nodes[len(nodes)-1]
	for _, n := range nodes[:len(nodes)-1] {
		s.audits(t, n)
	}
	has(t, s.Refused(t, exitFailed, "keep", first.Name(), "--yes"), "is not the same on "+last.Name(), "kube-apiserver+json.yaml")
	s.audits(t, last)

	blocked := s.Refused(t, exitBlocked, append([]string{"check", "--to", newer}, waiveBare...)...)
	has(t, blocked, "kube-apiserver --audit-policy-file", "refit keep "+first.Name())
	has(t, s.Refused(t, exitUsage, "keep", first.Name()), "+ - name: audit-policy-file", "use --yes")
	kept := s.RunRefit(t, "keep", first.Name(), "--yes")
	t.Log(kept)
	has(t, kept, "+ - name: audit-policy-file", "Kept 5 security settings")
	has(t, s.RunRefit(t, "keep", first.Name()), "There is nothing to keep")
	has(t, s.RunRefit(t, "keep", last.Name()), "There is nothing to keep")
	if found := s.RunRefit(t, append([]string{"check", "--to", newer}, waiveBare...)...); strings.Contains(found, "SecuritySettingLost") {
		t.Errorf("the check still reports\n%s", found)
	}

	monitor := s.monitor(t)
	s.Upgrade(t, newer, waiveBare...).Wait(t, whole, exitDone)
	monitor.stop(t)
	s.isAt(t, r)
	for _, n := range nodes {
		must(t, s.auditsStill(t.Context(), n))
	}
}

// audits adds an audit log to the API server of a node, and waits until it is written.
func (s *site) audits(t *testing.T, n *cluster.Node) {
	t.Helper()
	must(t, bed.WriteOn(t.Context(), n, auditPolicy, "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n"))
	text, err := bed.ReadOn(t.Context(), n, apiServerManifest)
	must(t, err)
	for at, added := range map[string]string{"    - --allow-privileged=true\n": auditFlags, "    volumeMounts:\n": auditMounts, "  volumes:\n": auditVolumes} {
		if strings.Count(text, at) != 1 {
			t.Fatalf("the manifest has %q %d times:\n%s", at, strings.Count(text, at), text)
		}
		text = strings.Replace(text, at, at+added, 1)
	}
	must(t, bed.WriteOn(t.Context(), n, apiServerManifest, text))
	must(t, until(t.Context(), n.Name()+" to write an audit log", recovery, func(ctx context.Context) error {
		return errors.Join(s.auditsStill(ctx, n), s.auditedPod(ctx, n))
	}))
	must(t, s.WaitReady(t.Context(), recovery))
}

// auditsStill verifies that the manifest has the flags and mounts, and that the log is written.
func (s *site) auditsStill(ctx context.Context, n *cluster.Node) error {
	text, err := bed.ReadOn(ctx, n, apiServerManifest)
	if err != nil {
		return err
	}
	_, err = n.Exec(ctx, "test", "-s", auditLog)
	for _, setting := range []string{
		"--audit-policy-file=" + auditPolicy, "--audit-log-path=" + auditLog, "--audit-log-maxage=7", "mountPath: /etc/kubernetes/audit",
		"mountPath: /var/log/kubernetes/audit",
	} {
		err = errors.Join(err, mentions(text, setting))
	}
	return err
}

// auditedPod verifies that the API has the running pod with its flags.
func (s *site) auditedPod(ctx context.Context, n *cluster.Node) error {
	out, err := s.Kubectl(ctx, nil, "--namespace=kube-system", "get", "pod", "kube-apiserver-"+n.Name(), "--output=yaml")
	return errors.Join(err, mentions(string(out), "--audit-policy-file="+auditPolicy))
}

// has fails the test unless a text, whose lines may be wrapped, has all words.
func has(t *testing.T, text string, words ...string) {
	t.Helper()
	text = strings.Join(strings.Fields(text), " ")
	for _, word := range words {
		must(t, mentions(text, word))
	}
}
