//go:build e2e

package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/test/e2e/bed"
)

// everyone are all users, as a part of an audit rule.
const everyone = `userGroups: ["system:authenticated", "system:unauthenticated"]`

// testUntouched compares the live cluster before and after a rehearsal that has the audit flags of
// the live API server: its objects, its audit log, and the network of the rehearsal.
func (s *site) testUntouched(t *testing.T) {
	bed.Must(t, s.Audit(t.Context(), everyone))
	bed.Must(t, s.WaitReady(t.Context(), bed.Recovery))
	before := s.settled(t)
	watched, stop := s.watchNetwork(t.Context())
	got, err := s.rehearse(t, withAudit()...)
	stop()
	bed.Must(t, err)
	if findings := got.Hops[0].Findings; len(findings) > 0 {
		t.Errorf("%+v", findings)
	}
	bed.Must(t, before.differences(s.objects(t)))
	s.noRequest(t)
	bed.Must(t, checkNetwork(<-watched))
}

// withAudit adds the audit log of the live API server to a rendered manifest.
func withAudit() []string {
	const volume = "audit"
	return []string{
		"    - --advertise-address=", "    - --audit-policy-file=/etc/kubernetes/audit-policy.yaml\n" +
			"    - --audit-log-path=/var/log/kubernetes/audit.log\n    - --advertise-address=",
		"    volumeMounts:\n", "    volumeMounts:\n    - {name: " + volume + "-policy, mountPath: /etc/kubernetes/audit-policy.yaml}\n" +
			"    - {name: " + volume + "-log, mountPath: /var/log/kubernetes}\n",
		"  volumes:\n", "  volumes:\n  - {name: " + volume + "-policy, hostPath: {path: /etc/kubernetes/audit-policy.yaml, type: File}}\n" +
			"  - {name: " + volume + "-log, hostPath: {path: /var/log/kubernetes}}\n",
	}
}

// moving are the resources that change without a rehearsal, too. Of nodes and pods, whose status
// changes, only the names and UIDs are compared.
var moving = []string{"leases.coordination.k8s.io", "events", "events.events.k8s.io", "componentstatuses", "certificatesigningrequests.certificates.k8s.io"}

// versions are the UIDs and resourceVersions of objects, by resource, namespace and name.
type versions map[string]string

// objects lists every object of the live cluster.
func (s *site) objects(t *testing.T) versions {
	t.Helper()
	resources, err := s.Kubectl(t.Context(), nil, "api-resources", "--verbs=list", "--output=name")
	bed.Must(t, err)
	all := versions{}
	for resource := range bed.Lines(string(resources)) {
		if slices.Contains(moving, resource) {
			continue
		}
		version := "{.metadata.resourceVersion}"
		if resource == "nodes" || resource == "pods" {
			version = ""
		}
		out, err := s.Kubectl(t.Context(), nil, "get", resource, "--all-namespaces",
			"--output=jsonpath={range .items[*]}{.metadata.namespace}/{.metadata.name} {.metadata.uid} "+version+"{\"\\n\"}{end}")
		bed.Must(t, err)
		for line := range bed.Lines(string(out)) {
			name, rest, _ := strings.Cut(line, " ")
			all[resource+" "+name] = rest
		}
	}
	if len(all) < 100 {
		t.Fatalf("the cluster has only %d objects", len(all))
	}
	return all
}

// settled returns the objects once nothing changes them for a while: the API server was restarted.
func (s *site) settled(t *testing.T) versions {
	t.Helper()
	const quiet = 20 * time.Second
	last := s.objects(t)
	for deadline := time.Now().Add(bed.Recovery); ; {
		select {
		case <-t.Context().Done():
			t.Fatal(context.Cause(t.Context()))
		case <-time.After(quiet):
		}
		now := s.objects(t)
		err := last.differences(now)
		if err == nil {
			return now
		}
		if time.Now().After(deadline) {
			t.Fatalf("the cluster does not settle: %v", err)
		}
		last = now
	}
}

// differences returns the objects that were created, changed or deleted.
func (v versions) differences(now versions) error {
	names := maps.Clone(v)
	maps.Copy(names, now)
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if v[name] != now[name] {
			errs = append(errs, fmt.Errorf("%s was %q and is %q", name, v[name], now[name]))
		}
	}
	return errors.Join(errs...)
}

// noRequest requires that the audit log has no request of the rehearsal: neither of its user and
// its client, nor of an API server of the target version to itself.
func (s *site) noRequest(t *testing.T) {
	t.Helper()
	all, err := s.Audited(t.Context(), func(*bed.AuditEvent) bool { return true })
	bed.Must(t, err)
	live := 0
	for _, e := range all {
		if strings.HasPrefix(e.UserAgent, "kube-apiserver/"+bed.Older) {
			live++
		}
		if strings.Contains(e.User.Username, "refit") || strings.Contains(e.UserAgent, "refit") || strings.HasPrefix(e.UserAgent, "kube-apiserver/"+bed.Newer) {
			t.Errorf("a request of the rehearsal: %+v", e)
		}
	}
	if live == 0 {
		t.Error("the audit log does not even have the requests of the live API server to itself")
	}
}
