package cluster

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Component is the part of a Component that decisions need. It has no values: they may be secret.
type Component struct {
	Name       string                   `json:"name"`
	Generation int64                    `json:"generation,omitempty"`
	Manage     refitv1alpha1.Management `json:"manage,omitempty"`
	Adopt      bool                     `json:"adopt,omitempty"`
	// ByRefit is set if Refit installed it.
	ByRefit bool                          `json:"byRefit,omitempty"`
	Status  refitv1alpha1.ComponentStatus `json:"status"`
}

// Observed reports whether refit-components has written a status for the current spec.
func (c *Component) Observed() bool {
	return c.Status.Owner != "" && c.Status.ObservedGeneration >= c.Generation
}

// Stalled is why refit-components cannot compute what ClusterReleases would change, empty if it
// can.
func (c *Component) Stalled() string {
	for i := range c.Status.Conditions {
		if s := &c.Status.Conditions[i]; s.Type == refitv1alpha1.ConditionStalled && s.Status == metav1.ConditionTrue {
			return s.Message
		}
	}
	return ""
}

// ComponentUpgrade is the order for a component and its journal.
type ComponentUpgrade struct {
	Name       string                               `json:"name"`
	Generation int64                                `json:"generation,omitempty"`
	Spec       refitv1alpha1.ComponentUpgradeSpec   `json:"spec"`
	Status     refitv1alpha1.ComponentUpgradeStatus `json:"status"`
}

// Component returns the component of this name, nil if there is none.
func (s *Snapshot) Component(name string) *Component {
	for i := range s.Components {
		if s.Components[i].Name == name {
			return &s.Components[i]
		}
	}
	return nil
}

// ComponentUpgrade returns the order for the component of this name, nil if there is none.
func (s *Snapshot) ComponentUpgrade(name string) *ComponentUpgrade {
	for i := range s.ComponentUpgrades {
		if s.ComponentUpgrades[i].Name == name {
			return &s.ComponentUpgrades[i]
		}
	}
	return nil
}
