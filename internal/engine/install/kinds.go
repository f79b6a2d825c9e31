package install

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kind is a kind of installed objects.
type kind struct {
	apiVersion, kind string
	resource         string
	namespaced       bool
}

// The kinds that need special treatment.
const (
	kindNamespace  = "Namespace"
	kindCRD        = "CustomResourceDefinition"
	kindPolicy     = "ValidatingAdmissionPolicy"
	kindAccount    = "ServiceAccount"
	kindConfigMap  = "ConfigMap"
	kindDeployment = "Deployment"
	kindDaemonSet  = "DaemonSet"
)

// kinds lists the installed kinds in the order in which they are applied: dependencies first, and
// workloads after their RBAC and policies. They are deleted in reverse order.
var kinds = []kind{
	{"v1", kindNamespace, "namespaces", false},
	{"apiextensions.k8s.io/v1", kindCRD, "customresourcedefinitions", false},
	{"admissionregistration.k8s.io/v1", kindPolicy, "validatingadmissionpolicies", false},
	{"admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", false},
	{"v1", kindAccount, "serviceaccounts", true},
	{"rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", false},
	{"rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings", false},
	{"rbac.authorization.k8s.io/v1", "Role", "roles", true},
	{"rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings", true},
	{"v1", kindConfigMap, "configmaps", true},
	{"policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", true},
	{"apps/v1", kindDeployment, "deployments", true},
	{"apps/v1", kindDaemonSet, "daemonsets", true},
}

func rank(o *unstructured.Unstructured) int {
	return slices.IndexFunc(kinds, func(k kind) bool { return k.kind == o.GetKind() && k.apiVersion == o.GetAPIVersion() })
}

// sortForApply sorts objects in the order in which they are applied, those of one kind by name.
func sortForApply(objects []*unstructured.Unstructured) {
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
}

// Ref identifies an object in a cluster, independent of its Go type.
type Ref struct {
	APIVersion, Resource string
	Namespace, Name      string
	Kind                 string // for output; an inventory does not store it
}

func (r Ref) gvr() schema.GroupVersionResource {
	gv, _ := schema.ParseGroupVersion(r.APIVersion) // readInventory has parsed it
	return gv.WithResource(r.Resource)
}

// String returns the object's kind and name for output.
func (r Ref) String() string {
	name := r.Name
	if r.Namespace != "" {
		name = r.Namespace + "/" + r.Name
	}
	return cmp.Or(r.Kind, r.Resource) + " " + name
}

// same reports whether both identify the same object, whatever their version.
func (r Ref) same(o Ref) bool {
	return r.gvr().GroupResource() == o.gvr().GroupResource() && r.Namespace == o.Namespace && r.Name == o.Name
}

// refOf returns the Ref of an object of an installed kind.
func refOf(o *unstructured.Unstructured) (Ref, error) {
	at := rank(o)
	if at < 0 {
		return Ref{}, fmt.Errorf("%s %s of %s is not of an installed kind", o.GetKind(), o.GetName(), o.GetAPIVersion())
	}
	k := kinds[at]
	if k.namespaced != (o.GetNamespace() != "") {
		return Ref{}, fmt.Errorf("%s %s has an invalid namespace %q", o.GetKind(), o.GetName(), o.GetNamespace())
	}
	return Ref{APIVersion: k.apiVersion, Resource: k.resource, Namespace: o.GetNamespace(), Name: o.GetName(), Kind: k.kind}, nil
}
