package operations

import (
	"net"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/connrotation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Scheme has the kinds that this package reads and writes.
func Scheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		refitv1alpha1.AddToScheme, corev1.AddToScheme, appsv1.AddToScheme, discoveryv1.AddToScheme, coordinationv1.AddToScheme,
		authenticationv1.AddToScheme, authorizationv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

// NewClient returns a client without API discovery: during an upgrade of the control plane, every
// request less is one less that can fail.
func NewClient(config *rest.Config) (client.WithWatch, error) {
	scheme, err := Scheme()
	if err != nil {
		return nil, err
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	for kind, scope := range map[schema.GroupVersionKind]meta.RESTScope{
		refitv1alpha1.GroupVersion.WithKind("ClusterUpgrade"):    meta.RESTScopeRoot,
		refitv1alpha1.GroupVersion.WithKind("NodeUpgrade"):       meta.RESTScopeRoot,
		refitv1alpha1.GroupVersion.WithKind("NodeReport"):        meta.RESTScopeRoot,
		refitv1alpha1.GroupVersion.WithKind("ClusterRelease"):    meta.RESTScopeRoot,
		refitv1alpha1.GroupVersion.WithKind("EtcdBackup"):        meta.RESTScopeRoot,
		refitv1alpha1.GroupVersion.WithKind("BackupStore"):       meta.RESTScopeRoot,
		refitv1alpha1.GroupVersion.WithKind("Component"):         meta.RESTScopeRoot,
		refitv1alpha1.GroupVersion.WithKind("UpgradeSchedule"):   meta.RESTScopeRoot,
		refitv1alpha1.GroupVersion.WithKind("MaintenanceWindow"): meta.RESTScopeRoot,
		corev1.SchemeGroupVersion.WithKind("Node"):               meta.RESTScopeRoot,
		corev1.SchemeGroupVersion.WithKind("Pod"):                meta.RESTScopeNamespace,
		corev1.SchemeGroupVersion.WithKind("ConfigMap"):          meta.RESTScopeNamespace,
		corev1.SchemeGroupVersion.WithKind("Secret"):             meta.RESTScopeNamespace,
		corev1.SchemeGroupVersion.WithKind("Namespace"):          meta.RESTScopeRoot,
		appsv1.SchemeGroupVersion.WithKind("Deployment"):         meta.RESTScopeNamespace,
		coordinationv1.SchemeGroupVersion.WithKind("Lease"):      meta.RESTScopeNamespace,

		discoveryv1.SchemeGroupVersion.WithKind("EndpointSlice"): meta.RESTScopeNamespace,

		refitv1alpha1.GroupVersion.WithKind("ComponentUpgrade"):                meta.RESTScopeRoot,
		authorizationv1.SchemeGroupVersion.WithKind("SelfSubjectAccessReview"): meta.RESTScopeRoot,
		authorizationv1.SchemeGroupVersion.WithKind("SubjectAccessReview"):     meta.RESTScopeRoot,
		authenticationv1.SchemeGroupVersion.WithKind("SelfSubjectReview"):      meta.RESTScopeRoot,
		authenticationv1.SchemeGroupVersion.WithKind("TokenReview"):            meta.RESTScopeRoot,
	} {
		mapper.Add(kind, scope)
	}
	config = rest.CopyConfig(config)
	config.QPS = -1 // API priority and fairness limits the rate
	dial := config.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: requestTimeout}).DialContext
	}
	dialer := connrotation.NewDialer(dial)
	config.Dial = dialer.DialContext
	objects, err := client.NewWithWatch(config, client.Options{Scheme: scheme, Mapper: mapper})
	if err != nil {
		return nil, err
	}
	return &connection{WithWatch: objects, dialer: dialer}, nil
}

// connection is a client whose connections can be closed.
type connection struct {
	client.WithWatch

	dialer *connrotation.Dialer
}

// Redial closes all connections, so that the next request opens another one. Requests in progress
// fail.
func (c *connection) Redial() { c.dialer.CloseAll() }
