//go:build apiserver

package install

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/refit-dev/refit/internal/engine/install"
	"github.com/refit-dev/refit/test/apiserver"
)

// standalone has no Deployment, because nothing would create its pods here.
func standalone() install.Options {
	o := options()
	o.Standalone = true
	return o
}

// heard records the messages about nodes.
type heard struct {
	mu    sync.Mutex
	lines []string
}

func (h *heard) callbacks() install.Callbacks {
	return install.Callbacks{Node: func(n install.NodeProgress, done, of int) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.lines = append(h.lines, strings.TrimSpace(fmt.Sprintf("%s %s %d/%d %s", n.Node, n.State, done, of, n.Why)))
	}}
}

func (h *heard) has(part string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.lines, func(line string) bool { return strings.Contains(line, part) })
}

func TestAgentsAreFollowedOntoTheirNodes(t *testing.T) {
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		b := newBed(t, version)
		w := b.live(t)
		b.node(t, "n1", true)
		b.node(t, "n2", true)
		b.node(t, "n3", false)
		w.says(func(pod *corev1.Pod) corev1.PodStatus {
			if pod.Spec.NodeName == "n2" {
				return failing("refit-agent: an upgrade is in progress on this host")
			}
			return done()
		})
		b.apply(t, standalone(), false)
		h := &heard{}
		type result struct {
			p   install.Progress
			err error
		}
		ended := make(chan result, 1)
		ctx := within(t, checkTimeout)
		go func() {
			p, err := b.Follow(ctx, render(t, standalone()), h.callbacks())
			ended <- result{p, err}
		}()
		for deadline := time.Now().Add(checkTimeout); !h.has("CrashLoopBackOff: refit-agent: an upgrade is in progress on this host"); time.Sleep(50 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("it says %q", h.lines)
			}
		}
		b.node(t, "n4", true) // a node that joins later gets one, too
		w.says(nil)
		got := <-ended
		must(t, got.err)
		var states []string
		for _, n := range got.p.Nodes {
			states = append(states, n.Node+" "+string(n.State))
		}
		if !slices.Equal(states, []string{"n1 Done", "n2 Done", "n3 Unreachable", "n4 Done"}) || got.p.Controller != nil {
			t.Errorf("%+v", got.p)
		}
		if !h.has("n3 Unreachable") || !h.has("n1 Done") {
			t.Errorf("it says %q", h.lines)
		}
	})
}

// TestNodesThatAreLate checks that the timeout error names the nodes that are late, and why.
func TestNodesThatAreLate(t *testing.T) {
	b := newBed(t, apiserver.Versions(t)[0])
	b.node(t, "n1", true)
	b.apply(t, standalone(), false)
	_, err := b.client.CoreV1().Events("refit-agent").Create(t.Context(), &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: "e", Namespace: "refit-agent"},
		InvolvedObject: corev1.ObjectReference{Kind: "DaemonSet", Namespace: "refit-agent", Name: "refit-agent"},
		Type:           corev1.EventTypeWarning, Reason: "FailedCreate", Message: "pods is forbidden: a webhook says no", LastTimestamp: metav1.Now(),
	}, metav1.CreateOptions{})
	must(t, err)
	p, err := b.Follow(within(t, 3*time.Second), render(t, standalone()), install.Callbacks{})
	if !errors.Is(err, install.ErrNotDone) || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "0 of 1 nodes") {
		t.Errorf("%v", err)
	}
	if len(p.Nodes) != 1 || p.Nodes[0].State != install.Waiting || p.Nodes[0].Why != "FailedCreate: pods is forbidden: a webhook says no" {
		t.Errorf("%+v", p)
	}
	interrupted, stop := context.WithCancel(t.Context())
	stop()
	if _, err := b.Follow(interrupted, render(t, standalone()), install.Callbacks{}); !errors.Is(err, context.Canceled) || errors.Is(err, install.ErrNotDone) {
		t.Errorf("%v", err)
	}
}
