//go:build e2e

package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

const (
	// idleVariable sets the idle time that is measured.
	idleVariable = "REFIT_AGENT_IDLE"
	auditLog     = "/var/log/kubernetes/audit.log"
	auditPolicy  = "/etc/kubernetes/audit-policy.yaml"
	// mostMemory limits the anonymous memory of an idle agent.
	mostMemory = 30 << 20
)

// policy makes the API server log every request of nodes: once it is answered or, for a watch, once
// it is started.
const policy = `apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- {level: Metadata, userGroups: ["system:nodes"]}
- {level: None}
`

// TestAgentIdle measures the overhead of idle agents: memory, requests, and the size of the binary.
func TestAgentIdle(t *testing.T) {
	p := bed.Build(t)
	info, err := os.Stat(p.Agent)
	must(t, err)
	show(t, "agent_binary", float64(info.Size())/(1<<20), "MiB")

	b := newBareBed(t, cluster.Spec{Name: "aidle", Workers: 1, Kubernetes: older})
	must(t, b.audit(t.Context()))
	b.installAgents(t, p.Agent)
	lasts := setting(t, idleVariable, 10*time.Minute)
	must(t, b.WaitReady(t.Context(), recovery))
	time.Sleep(20 * time.Second) // until reports are written and startup has finished
	begun := time.Now()
	time.Sleep(lasts)

	for _, n := range b.Nodes() {
		memory, err := rssAnon(t.Context(), n)
		must(t, err)
		show(t, figureName("agent_memory_"+n.Role()), memory/(1<<20), "MiB")
		if memory > mostMemory {
			t.Errorf("the agent of %s has %.1f MiB for itself", n.Name(), memory/(1<<20))
		}
	}
	watches, others, err := b.requestsSince(t.Context(), begun)
	must(t, err)
	show(t, "agent_idle_watches", float64(watches), "requests")
	show(t, "agent_idle_other_requests", float64(len(others)), "requests")
	for _, one := range others {
		t.Errorf("an idle agent asked for: %s", one)
	}
	must(t, b.watchesOpen(t.Context()))
}

// rssAnon returns the anonymous memory of an agent.
func rssAnon(ctx context.Context, n *cluster.Node) (float64, error) {
	pid, err := agentPID(ctx, n)
	if err != nil {
		return 0, err
	}
	text, err := readOn(ctx, n, fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, found := strings.Cut(text, "\nRssAnon:")
	if !found {
		return 0, errors.New("the kernel does not tell RssAnon")
	}
	var kib float64
	_, err = fmt.Sscan(rest, &kib)
	return kib * 1024, err
}

// audit makes the API server write an audit log.
func (b *agents) audit(ctx context.Context) error {
	cp := b.First(cluster.RoleControlPlane)
	if err := writeOn(ctx, cp, auditPolicy, policy); err != nil {
		return err
	}
	const manifest = "/etc/kubernetes/manifests/kube-apiserver.yaml"
	text, err := readOn(ctx, cp, manifest)
	if err != nil {
		return err
	}
	var pod corev1.Pod
	if err := yaml.Unmarshal([]byte(text), &pod); err != nil {
		return err
	}
	c := &pod.Spec.Containers[0]
	c.Command = append(c.Command, "--audit-policy-file="+auditPolicy, "--audit-log-path="+auditLog)
	for name, path := range map[string]string{"audit-policy": auditPolicy, "audit-log": "/var/log/kubernetes"} {
		kind := corev1.HostPathDirectoryOrCreate
		if name == "audit-policy" {
			kind = corev1.HostPathFile
		}
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: path})
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			HostPath: &corev1.HostPathVolumeSource{Path: path, Type: &kind},
		}})
	}
	changed, err := yaml.Marshal(&pod)
	if err != nil {
		return err
	}
	if err := writeOn(ctx, cp, "/root/kube-apiserver.yaml", string(changed)); err != nil {
		return err
	}
	if _, err := cp.Exec(ctx, "mv", "/root/kube-apiserver.yaml", manifest); err != nil {
		return err
	}
	return until(ctx, "the API server to write an audit log", checkTimeout, func(ctx context.Context) error {
		ctx, cancel := soon(ctx)
		defer cancel()
		if _, err := b.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{}); err != nil {
			return err
		}
		_, err := cp.Exec(ctx, "test", "-s", auditLog)
		return err
	})
}

// event has the fields of an audit event that the test reads.
type event struct {
	AuditID                  types.UID        `json:"auditID"`
	Stage                    string           `json:"stage"`
	Verb                     string           `json:"verb"`
	RequestURI               string           `json:"requestURI"`
	UserAgent                string           `json:"userAgent"`
	RequestReceivedTimestamp metav1.MicroTime `json:"requestReceivedTimestamp"`
	User                     struct {
		Username string `json:"username"`
	} `json:"user"`
}

// events returns the requests of agents in the audit log.
func (b *agents) events(ctx context.Context) ([]event, error) {
	text, err := readOn(ctx, b.First(cluster.RoleControlPlane), auditLog)
	if err != nil {
		return nil, err
	}
	var found []event
	for line := range lines(text) {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return nil, err
		}
		if strings.HasPrefix(e.UserAgent, "refit-agent") {
			found = append(found, e)
		}
	}
	if len(found) == 0 {
		return nil, errors.New("the audit log has no request of an agent: nothing could be told from it")
	}
	return found, nil
}

// requestsSince counts watches and lists all other requests of agents. A watch that is restarted
// because the server closed it does not count as another request.
func (b *agents) requestsSince(ctx context.Context, since time.Time) (watches int, others []string, err error) {
	all, err := b.events(ctx)
	if err != nil {
		return 0, nil, err
	}
	seen := map[types.UID]bool{}
	for _, e := range all {
		if e.RequestReceivedTimestamp.Time.Before(since) || seen[e.AuditID] {
			continue
		}
		seen[e.AuditID] = true
		if e.Verb == "watch" {
			watches++
			continue
		}
		others = append(others, fmt.Sprintf("%s %s %s", e.User.Username, e.Verb, e.RequestURI))
	}
	return watches, others, nil
}

// watchesOpen verifies that every agent has exactly two open watches.
func (b *agents) watchesOpen(ctx context.Context) error {
	all, err := b.events(ctx)
	if err != nil {
		return err
	}
	open := map[types.UID]string{}
	for _, e := range all {
		switch {
		case e.Verb != "watch":
		case e.Stage == "ResponseComplete" || e.Stage == "Panic":
			delete(open, e.AuditID)
		default:
			open[e.AuditID] = e.User.Username
		}
	}
	count := map[string]int{}
	for _, user := range open {
		count[user]++
	}
	var errs []error
	for _, n := range b.Nodes() {
		if got := count["system:node:"+n.Name()]; got != 2 {
			errs = append(errs, fmt.Errorf("the agent of %s has %d watches, want 2", n.Name(), got))
		}
	}
	return errors.Join(errs...)
}
