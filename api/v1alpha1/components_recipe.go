package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RecipeStep is one step of a recipe. Exactly one field is set. The list of steps is closed: a
// recipe never contains a command or a script.
//
// +kubebuilder:object:generate=false
type RecipeStep struct {
	Require  *RecipeRequire  `json:"require,omitempty"`
	Freeze   *RecipeFreeze   `json:"freeze,omitempty"`
	CRDs     *RecipeCRDs     `json:"crds,omitempty"`
	Wave     *RecipeWave     `json:"wave,omitempty"`
	Wait     *RecipeWait     `json:"wait,omitempty"`
	Touch    *RecipeTouch    `json:"touch,omitempty"`
	Recreate *RecipeRecreate `json:"recreate,omitempty"`
	Patch    *RecipePatch    `json:"patch,omitempty"`
	Verify   *RecipeVerify   `json:"verify,omitempty"`
}

// RecipeRequire is a condition for the upgrade.
//
// +kubebuilder:object:generate=false
type RecipeRequire struct {
	// Peers are other clusters whose versions must fit.
	Peers *RecipePeers `json:"peers,omitempty"`
}

// RecipePeers is where the names of peers come from. Their versions are in the Component.
//
// +kubebuilder:object:generate=false
type RecipePeers struct {
	// ListedBy is a resource and its group: one object per peer.
	ListedBy string `json:"listedBy"`
}

// RecipeFreeze denies changes during the upgrade. Every end of the upgrade lifts it.
//
// +kubebuilder:object:generate=false
type RecipeFreeze struct {
	// Limit is how long the freeze may last. The upgrade stalls when it is exceeded, and the freeze
	// is lifted first.
	Limit metav1.Duration `json:"limit"`
	Deny  RecipeDeny      `json:"deny"`
	// Except are the clients that are not denied.
	Except RecipeExcept `json:"except,omitzero"`
}

// RecipeDeny are the requests that a freeze denies.
//
// +kubebuilder:object:generate=false
type RecipeDeny struct {
	// Operations are CREATE, UPDATE and DELETE.
	Operations []string `json:"operations"`
	// Resources are resources and their groups, such as foreignclusters.core.liqo.io.
	Resources []string `json:"resources"`
}

// RecipeExcept are clients.
//
// +kubebuilder:object:generate=false
type RecipeExcept struct {
	// ServiceAccountsIn are namespaces whose ServiceAccounts are not denied.
	ServiceAccountsIn []string `json:"serviceAccountsIn,omitempty"`
}

// RecipeCRDs upgrades the CRDs of the chart.
//
// +kubebuilder:object:generate=false
type RecipeCRDs struct{}

// RecipeWave upgrades some objects of the chart and waits until they are ready.
//
// +kubebuilder:object:generate=false
type RecipeWave struct {
	Name string `json:"name"`
	// Objects are KIND/NAME, where the name can end with an asterisk; rbac/* are the objects of the
	// group rbac.authorization.k8s.io, and ServiceAccounts. The last wave of a recipe has none: it
	// upgrades everything else.
	Objects []string `json:"objects,omitempty"`
}

// RecipeWait waits until objects are ready.
//
// +kubebuilder:object:generate=false
type RecipeWait struct {
	Kind  string          `json:"kind"`
	Limit metav1.Duration `json:"limit,omitzero"`
}

// RecipeTouch annotates objects so that their controller reconciles them.
//
// +kubebuilder:object:generate=false
type RecipeTouch struct {
	RecipeObjects `json:",inline"`
}

// RecipeRecreate deletes objects that their controller creates again.
//
// +kubebuilder:object:generate=false
type RecipeRecreate struct {
	RecipeObjects `json:",inline"`
}

// RecipePatch sets one field of objects.
//
// +kubebuilder:object:generate=false
type RecipePatch struct {
	RecipeObjects `json:",inline"`
	// Path is a JSON pointer to the field.
	Path string `json:"path"`
	// Value is the new value. It can contain ${from}, ${to} and ${image:NAME}.
	Value string `json:"value"`
}

// RecipeObjects selects the objects of a step and paces it.
//
// +kubebuilder:object:generate=false
type RecipeObjects struct {
	// Kind is a kind and its group, such as GatewayServer.networking.liqo.io.
	Kind string `json:"kind"`
	// OneByOne waits for each object before the next one.
	OneByOne bool `json:"oneByOne,omitempty"`
	// Until is the state that each object must reach.
	Until ObjectState `json:"until,omitempty"`
	// Limit is how long an object may take.
	Limit metav1.Duration `json:"limit,omitzero"`
}

// ObjectState is the state that a step waits for.
type ObjectState string

// StateReady is reached when an object is ready as kstatus computes it.
const StateReady ObjectState = "Ready"

// RecipeVerify is what must hold after the upgrade.
//
// +kubebuilder:object:generate=false
type RecipeVerify struct {
	// Ready is which objects of the chart must be ready.
	Ready VerifyReady `json:"ready,omitempty"`
	// Images is which images the pods of the component may run.
	Images VerifyImages `json:"images,omitempty"`
	// Soak is how long everything must hold without interruption.
	Soak metav1.Duration `json:"soak,omitzero"`
}

// VerifyReady is which objects must be ready.
type VerifyReady string

// VerifyAll requires every object of the chart.
const VerifyAll VerifyReady = "All"

// VerifyImages is which images pods may run.
type VerifyImages string

// VerifyOnlyOfRelease allows only images of the chart's new version.
const VerifyOnlyOfRelease VerifyImages = "OnlyOfRelease"
