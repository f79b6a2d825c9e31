//go:build apiserver

package drain

import (
	"io"
	"net/http"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	kubectldrain "k8s.io/kubectl/pkg/drain"

	"github.com/refit-dev/refit/internal/engine/drain"
	"github.com/refit-dev/refit/test/testbed/figure"
)

const manyPods = 200

func TestManyPodsAreFewRequestsAndKubectlMakesMore(t *testing.T) {
	const ends = 3 * time.Second // typical of pods that close their connections
	ours, theirs := newWorld(t), newWorld(t)
	for _, w := range []*world{ours, theirs} {
		w.kubelet(ends)
		w.runs("cart", manyPods/2)
		w.runs("web", manyPods/2)
	}

	begun := time.Now()
	if p := ours.drain(drain.Order{}).empties(); p.Evicted != manyPods {
		t.Errorf("the progress is %+v", p)
	}
	must(t, figure.Print("drain_200_pods_refit", time.Since(begun).Seconds(), "s"))
	const more = 10 // list and watch, the final list; on a busy machine the API may close a watch with a slow reader
	asked := len(ours.wire.requests())
	if asked > manyPods+more {
		t.Errorf("it made %d requests", asked)
	}

	config := theirs.s.As(t, "kubectl", "system:masters")
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		theirs.wire.next = next
		return theirs.wire
	})
	client, err := kubernetes.NewForConfig(config)
	must(t, err)
	begun = time.Now()
	must(t, kubectldrain.RunNodeDrain(&kubectldrain.Helper{
		Ctx: t.Context(), Client: client, GracePeriodSeconds: -1, IgnoreAllDaemonSets: true, Timeout: checkTimeout, Out: io.Discard, ErrOut: io.Discard,
	}, theirs.node))
	must(t, figure.Print("drain_200_pods_kubectl", time.Since(begun).Seconds(), "s"))

	must(t, figure.Print("drain_requests_refit", float64(asked), "requests"))
	must(t, figure.Print("drain_requests_kubectl", float64(len(theirs.wire.requests())), "requests"))
	if n := len(theirs.wire.requests()); n <= asked {
		t.Errorf("kubectl made %d requests, and this one %d", n, asked)
	}
}
