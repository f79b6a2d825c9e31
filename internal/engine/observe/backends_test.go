package observe

import (
	"errors"
	"reflect"
	"testing"

	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

func TestBackends(t *testing.T) {
	node := "worker-1"
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "guard-x", Labels: map[string]string{discoveryv1.LabelServiceName: "guard"}},
		Endpoints:  []discoveryv1.Endpoint{{Addresses: []string{"10.244.0.7"}, NodeName: &node}},
	}
	guard := cluster.Backend{Namespace: "shop", Service: "guard"}
	for name, test := range map[string]struct {
		objects   []runtime.Object
		forbidden bool
		services  map[string]bool
		want      cluster.Backend
	}{
		"a ready pod":                         {[]runtime.Object{slice}, false, map[string]bool{"shop/guard": true}, cluster.Backend{Found: cluster.Yes, Ready: 1, Nodes: []string{"worker-1"}}},
		"no pods":                             {nil, false, map[string]bool{"shop/guard": true}, cluster.Backend{Found: cluster.Yes}},
		"no Service":                          {nil, false, map[string]bool{}, cluster.Backend{Found: cluster.No}},
		"the Services are not readable":       {nil, false, nil, cluster.Backend{}},
		"the EndpointSlices are not readable": {[]runtime.Object{slice}, true, map[string]bool{"shop/guard": true}, cluster.Backend{}},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset(test.objects...)
			if test.forbidden {
				client.PrependReactor("list", "endpointslices", func(clienttesting.Action) (bool, runtime.Object, error) {
					return true, nil, apierrors.NewForbidden(discoveryv1.Resource("endpointslices"), "", errors.New("no"))
				})
			}
			obs := newObservation(&Reader{client: client}, "", &meter{})
			obs.services = test.services
			got := obs.backend(guard.Namespace, guard.Service)
			if err := obs.readBackends(t.Context()); (err != nil) != test.forbidden {
				t.Fatal(err)
			}
			test.want.Namespace, test.want.Service = guard.Namespace, guard.Service
			if !reflect.DeepEqual(*got, test.want) {
				t.Errorf("it is %+v, want %+v", *got, test.want)
			}
		})
	}
}
