package install

import (
	"encoding/json"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic/fake"
	clientset "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// The removal ends after it recorded the image and before the DaemonSet with the former one is
// gone.
func TestAnInterruptedRemovalKeepsTheChosenImage(t *testing.T) {
	const mirror, other = "mirror.example/refit-agent:v9", "other.example/refit-agent:v9"
	for situation, c := range map[string]struct {
		first, second Options
		want          string
	}{
		"chosen the first time":  {Options{Agent: mirror, AgentChosen: true}, Options{Agent: other}, mirror},
		"chosen the second time": {Options{Agent: other}, Options{Agent: mirror, AgentChosen: true}, mirror},
		"chosen twice":           {Options{Agent: other, AgentChosen: true}, Options{Agent: mirror, AgentChosen: true}, mirror},
		"never chosen":           {Options{Agent: mirror}, Options{Agent: other}, options().Agent},
	} {
		objects, err := Render(options())
		must(t, err)
		stored := []runtime.Object{Inventory{Version: "v0.1.0", Agent: agentImage(objects)}.with([]Ref{placerRef}).object()}
		for _, object := range objects {
			if object.GetKind() == kindDaemonSet {
				stored = append(stored, object)
			}
		}
		client := fake.NewSimpleDynamicClient(runtime.NewScheme(), stored...)
		client.PrependReactor("patch", "configmaps", func(action clienttesting.Action) (bool, runtime.Object, error) {
			object := &unstructured.Unstructured{}
			must(t, json.Unmarshal(action.(clienttesting.PatchAction).GetPatch(), &object.Object))
			return true, object, client.Tracker().Update(action.GetResource(), object, object.GetNamespace())
		})
		killed := errors.New("killed")
		client.PrependReactor("delete", "daemonsets", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewInternalError(killed)
		})
		cluster := &Cluster{objects: client, client: clientset.NewClientset()}
		if err := (&removeRun{Cluster: cluster, options: c.first}).removePlacer(t.Context()); err == nil {
			t.Fatal("it was not interrupted")
		}
		second := &removeRun{Cluster: cluster, options: c.second}
		if err := second.removePlacer(t.Context()); err == nil || second.options.Agent != c.want {
			t.Errorf("%s: it uses %s, want %s, %v", situation, second.options.Agent, c.want, err)
		}
	}
}
