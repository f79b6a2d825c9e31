package v1alpha1

import "maps"

// Labels are labels that a node must have, each with this value. It is a map[string]string whose
// values are bounded in the CRD.
//
// +kubebuilder:object:generate=false
type Labels map[string]labelValue

// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`
type labelValue = string

// DeepCopy is written by hand because controller-gen's deepcopy stumbles over the alias.
func (l Labels) DeepCopy() Labels { return maps.Clone(l) }
