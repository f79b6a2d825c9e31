package v1alpha1

// ComponentsPayloadType is the DSSE payload type of the components of a ClusterRelease. They have
// an envelope of their own, because agents refuse fields that they do not know in the payload of a
// ClusterRelease.
const ComponentsPayloadType = "application/vnd.refit.components.v1+json"

// ComponentsPayload is the signed list of the components of a ClusterRelease.
//
// +kubebuilder:object:generate=false
type ComponentsPayload struct {
	// Release is the digest of the ClusterRelease's payload: components of another release are
	// refused.
	Release string `json:"release"`
	// Components are the versions that the ClusterRelease offers. A component can have several: the
	// last one is the target, the others are for clusters that cannot reach it in one step.
	Components []ReleaseComponent `json:"components"`
	// Form prompts users for values of the components.
	Form *ComponentForm `json:"form,omitempty"`
}

// ReleaseComponent is one version of a component: a Helm chart, where it is installed, and how it
// is upgraded.
//
// +kubebuilder:object:generate=false
type ReleaseComponent struct {
	// Name is the name of the component, the same in all ClusterReleases.
	Name string `json:"name"`
	// Version is the version of the component, as its chart has it.
	Version string `json:"version"`
	// Chart is the chart as an archive that includes its dependencies.
	Chart ComponentChart `json:"chart"`
	// Release is the Helm release that the chart is installed as.
	Release HelmRelease `json:"release"`
	// Needs are components that must be upgraded before this one.
	Needs []string `json:"needs,omitempty"`
	// Place is whether the component is upgraded before or after the control plane.
	Place Placement `json:"place,omitempty"`
	// Fits are the combinations of versions that work. A component without any fits every version.
	Fits []ComponentFit `json:"fits,omitempty"`
	// Values are merged over those of the chart.
	Values map[string]any `json:"values,omitempty"`
	// UserMay are the values that users may set: dotted paths in which * stands for one key and **
	// for any number of keys. The last match counts, and an exclamation mark forbids a path. Users
	// may set nothing if it is empty.
	UserMay []string `json:"userMay,omitempty"`
	// Images are images that pods of the component run and that no Pod template of the chart has,
	// such as those of pods that an operator creates.
	Images []string `json:"images,omitempty"`
	// OnRemove is what happens when a later ClusterRelease no longer has the component.
	OnRemove RemovalPolicy `json:"onRemove,omitempty"`
	// Recipe is the order of the upgrade. Without one, CRDs come first and everything else follows
	// at once.
	Recipe []RecipeStep `json:"recipe,omitempty"`
	// Checks are what must hold in the cluster before the component is installed or upgraded.
	Checks []ComponentCheck `json:"checks,omitempty"`
}

// ComponentChart identifies the archive of a chart.
//
// +kubebuilder:object:generate=false
type ComponentChart struct {
	// Digest is sha256: and 64 hexadecimal digits.
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
}

// HelmRelease names a Helm release.
//
// +kubebuilder:object:generate=false
type HelmRelease struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// ComponentFit is a combination of versions that works. Ranges are comparisons that must all hold,
// such as ">=1.1 <1.3". An empty range holds for every version.
//
// +kubebuilder:object:generate=false
type ComponentFit struct {
	Version    string `json:"version,omitempty"`
	Kubernetes string `json:"kubernetes,omitempty"`
	Peers      string `json:"peers,omitempty"`
}

// Placement is whether a component is upgraded before or after the control plane. Auto means after
// it, unless the installed version does not fit the next version of Kubernetes.
type Placement string

// The placements.
const (
	PlaceAuto   Placement = "Auto"
	PlaceBefore Placement = "Before"
	PlaceAfter  Placement = "After"
)

// RemovalPolicy is what happens to a component that a later ClusterRelease no longer has.
type RemovalPolicy string

// The removal policies. CRDs always stay.
const (
	RemoveKeep      RemovalPolicy = "Keep"
	RemoveUninstall RemovalPolicy = "Uninstall"
)
