package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Component is an add-on of the cluster: a Helm release that upgrades with Kubernetes. The spec is
// yours. refit-components writes the status: what is installed, and what each ClusterRelease would
// change.
//
// A component that a ClusterRelease has needs no Component if it has nothing to set.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=comp,categories=refit
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63",message="a name may have at most 63 characters"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Installed",type=string,JSONPath=`.status.installed.version`
// +kubebuilder:printcolumn:name="Offered",type=string,JSONPath=`.status.offers[*].version`
// +kubebuilder:printcolumn:name="Owner",type=string,JSONPath=`.status.owner`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
type Component struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is how the component is managed, and your values.
	// +optional
	Spec ComponentSpec `json:"spec,omitzero"`
	// status is what is installed and what is offered. refit-components writes it.
	// +optional
	Status ComponentStatus `json:"status,omitzero"`
}

// ComponentList is a list of Components.
//
// +kubebuilder:object:root=true
type ComponentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Component `json:"items"`
}

// ComponentSpec is how a component is managed. A change requires the verb `approve` on components,
// because values can change everything that a chart can.
type ComponentSpec struct {
	// manage is who changes the component. Refit: Refit does. Observe: another tool does, such as
	// Flux or Argo CD, and an upgrade waits until that tool has installed a version that fits.
	// +optional
	// +kubebuilder:default=Refit
	Manage Management `json:"manage,omitempty"`
	// adopt lets Refit take over a Helm release that it did not install.
	// +optional
	Adopt bool `json:"adopt,omitempty"`
	// values are your values for the chart, merged over those of the ClusterRelease. The publisher
	// decides which of them you may set.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	Values *runtime.RawExtension `json:"values,omitempty"`
	// valuesFrom are Secrets with further values, merged over values in this order.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	ValuesFrom []ValuesSource `json:"valuesFrom,omitempty"`
	// peers are other clusters that the component works with, and their versions of it.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Peers []ComponentPeer `json:"peers,omitempty"`
}

// Management is who changes a component.
// +kubebuilder:validation:Enum=Refit;Observe
type Management string

// The kinds of management.
const (
	ManageRefit   Management = "Refit"
	ManageObserve Management = "Observe" // another tool changes it
)

// ValuesSource is where values come from.
type ValuesSource struct {
	// secret is the name of a Secret in the namespace refit-components.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	Secret string `json:"secret,omitempty"`
	// key is the key of the Secret that has the values. The default is values.yaml.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]+$`
	Key string `json:"key,omitempty"`
}

// ComponentPeer is another cluster and its version of a component.
type ComponentPeer struct {
	// name is the name of the peer, as the component lists it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
	// version is the version that the peer runs.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Version string `json:"version,omitempty"`
}

// ComponentStatus is what is installed, and what is offered.
type ComponentStatus struct {
	// observedGeneration is the generation of the spec that this status is about.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// owner is who installed the component. None: it is not installed.
	// +optional
	Owner ComponentOwner `json:"owner,omitempty"`
	// installed is the Helm release in the cluster.
	// +optional
	// +structType=atomic
	Installed *InstalledComponent `json:"installed,omitempty"`
	// offers are what the ClusterReleases of the cluster would change, those of the oldest
	// Kubernetes version first. A ClusterRelease that may change the component before and after the
	// control plane has an offer for each.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Offers []ComponentOffer `json:"offers,omitempty"`
	// conditions: Ready is True when the component is installed and its offers are known. Stalled
	// is True while something keeps Refit from reading it.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=2
	// +kubebuilder:validation:XValidation:rule="self.all(c, c.type.size() <= 32 && c.reason.size() <= 64 && c.message.size() <= 256 && c.lastTransitionTime > timestamp('2000-01-01T00:00:00Z'))",message="a condition's type may have at most 32 characters, its reason 64 and its message 256, and its time must be set"
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ComponentOwner is who installed a component.
// +kubebuilder:validation:Enum=None;Refit;Helm;Flux;ArgoCD
type ComponentOwner string

// The owners.
const (
	OwnerNone   ComponentOwner = "None"
	OwnerRefit  ComponentOwner = "Refit"
	OwnerHelm   ComponentOwner = "Helm" // somebody, with Helm
	OwnerFlux   ComponentOwner = "Flux"
	OwnerArgoCD ComponentOwner = "ArgoCD"
)

// InstalledComponent is a Helm release in the cluster.
type InstalledComponent struct {
	// version is the version of the component: that of the chart.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Version string `json:"version,omitempty"`
	// namespace and name are those of the Helm release.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
	// name is the name of the Helm release.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=53
	Name string `json:"name,omitempty"`
	// revision is the revision of the Helm release.
	// +required
	// +kubebuilder:validation:Minimum=1
	Revision int64 `json:"revision,omitempty"`
	// pending is set if the newest revision of the Helm release is unfinished.
	// +optional
	Pending bool `json:"pending,omitempty"`
}

// ComponentOffer is what a ClusterRelease would change in a component.
type ComponentOffer struct {
	// release is the ClusterRelease.
	// +required
	Release ReleaseRef `json:"release,omitzero"`
	// version is the version of the component that it would become, or that would be removed.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Version string `json:"version,omitempty"`
	// action is Install, Upgrade, Remove, or None if the version is installed already.
	// +required
	Action ComponentAction `json:"action,omitempty"`
	// kubernetes is the version of Kubernetes that the chart was rendered for.
	// +required
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^v1\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$`
	Kubernetes string `json:"kubernetes,omitempty"`
	// digest is what an approval covers: chart, values, recipe, differences and deletions. It is
	// absent if problems keep the offer from being computed.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	Digest string `json:"digest,omitempty"`
	// changes counts the objects of the chart that change.
	// +optional
	Changes ObjectChanges `json:"changes,omitzero"`
	// deletes are objects that the upgrade deletes, at most 16; changes.delete counts all of them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=384
	Deletes []string `json:"deletes,omitempty"`
	// crds are the changes of CRDs, at most 16.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	CRDs []CRDChange `json:"crds,omitempty"`
	// problems are what speaks against the offer, at most 8, the most important first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	Problems []ComponentProblem `json:"problems,omitempty"`
}

// ComponentAction is what happens to a component.
// +kubebuilder:validation:Enum=None;Install;Upgrade;Remove
type ComponentAction string

// The actions.
const (
	ActionNone    ComponentAction = "None"
	ActionInstall ComponentAction = "Install"
	ActionUpgrade ComponentAction = "Upgrade"
	ActionRemove  ComponentAction = "Remove"
)

// ObjectChanges counts objects.
type ObjectChanges struct {
	// create is the number of objects that are created.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	Create int32 `json:"create,omitempty"`
	// change is the number of objects that are changed.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	Change int32 `json:"change,omitempty"`
	// delete is the number of objects that are deleted.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	Delete int32 `json:"delete,omitempty"`
}

// CRDChange is the change of a CRD.
type CRDChange struct {
	// name is the name of the CRD.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
	// storage is the version in which objects are stored after the upgrade, if it changes.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Storage string `json:"storage,omitempty"`
	// objects is the number of objects that were checked.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Objects int64 `json:"objects,omitempty"`
}

// ComponentProblem is what speaks against an offer.
type ComponentProblem struct {
	// reason is a CamelCase word for the problem, and the ID of the check that reports it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Z][A-Za-z0-9]*$`
	Reason string `json:"reason,omitempty"`
	// object is the object that has the problem.
	// +optional
	// +kubebuilder:validation:MaxLength=384
	Object string `json:"object,omitempty"`
	// message describes the problem.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Message string `json:"message,omitempty"`
	// remedy is how to fix it.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Remedy string `json:"remedy,omitempty"`
	// blocks is true if the upgrade cannot start with it.
	// +optional
	Blocks bool `json:"blocks,omitempty"`
}
