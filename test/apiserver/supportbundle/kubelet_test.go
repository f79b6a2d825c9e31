//go:build apiserver

package supportbundle

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	engine "github.com/refit-dev/refit/internal/engine/supportbundle"
)

// kubelets are the kubelets of all nodes, behind one endpoint.
type kubelets struct {
	*bed
	port int32
	// stream returns the output of a collector Pod.
	stream func(to io.Writer) error
	// waiting are the nodes whose containers do not start, with the message of their kubelets.
	waiting map[string]string

	mu   sync.Mutex
	logs map[string]string // by namespace/pod/container, with ?previous if it is
	pods []corev1.Pod      // those of collectors
}

func (b *bed) startKubelets(t *testing.T) *kubelets {
	t.Helper()
	k := &kubelets{bed: b, logs: map[string]string{}, waiting: map[string]string{}}
	server := httptest.NewTLSServer(k)
	t.Cleanup(server.Close)
	address, err := url.Parse(server.URL)
	must(t, err)
	port, err := strconv.ParseInt(address.Port(), 10, 32)
	must(t, err)
	k.port = int32(port)
	return k
}

// ServeHTTP answers a request of the API server for a log.
func (k *kubelets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, isLog := strings.CutPrefix(r.URL.Path, "/containerLogs/")
	if !isLog {
		http.NotFound(w, r)
		return
	}
	if strings.HasPrefix(name, "refit-agent/"+engine.PodName+"-") {
		_ = k.stream(w) // the collector reports what is missing
		return
	}
	if r.URL.Query().Get("previous") == "true" {
		name += "?previous"
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	fmt.Fprint(w, k.logs[name])
}

// run starts the containers of collector Pods until the test ends.
func (k *kubelets) run(t *testing.T) {
	t.Helper()
	watch, err := k.admin.CoreV1().Pods("refit-agent").Watch(t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=" + engine.PodName})
	must(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range watch.ResultChan() {
			if pod, is := event.Object.(*corev1.Pod); is && event.Type == "ADDED" {
				if err := k.start(t.Context(), pod); err != nil && t.Context().Err() == nil {
					t.Errorf("cannot write the status of %s: %v", pod.Name, err)
				}
			}
		}
	}()
	t.Cleanup(func() {
		watch.Stop()
		<-done
	})
}

func (k *kubelets) start(ctx context.Context, pod *corev1.Pod) error {
	k.mu.Lock()
	k.pods = append(k.pods, *pod.DeepCopy())
	k.mu.Unlock()
	state := `"running":{}`
	if message, is := k.waiting[pod.Spec.NodeName]; is {
		state = fmt.Sprintf(`"waiting":{"reason":"ImagePullBackOff","message":%q}`, message)
	}
	status := fmt.Sprintf(`{"status":{"phase":"Running","containerStatuses":[{"name":"collect","image":"x","imageID":"x","ready":true,"restartCount":0,"state":{%s}}]}}`, state)
	_, err := k.admin.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, []byte(status), metav1.PatchOptions{}, "status")
	return err
}

// created returns the collector Pods so far.
func (k *kubelets) created() []corev1.Pod {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]corev1.Pod(nil), k.pods...)
}
