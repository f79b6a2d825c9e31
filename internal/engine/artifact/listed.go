package artifact

import (
	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Listed describes a ClusterRelease in a list, without the operations that follow it. It does not
// verify the signature.
func Listed(r *refitv1alpha1.ClusterRelease) cliv1alpha1.ListedRelease {
	out := cliv1alpha1.ListedRelease{
		Name: r.Name, Kubernetes: r.Spec.Kubernetes, CreateTime: r.CreationTimestamp.UTC(),
		VerifiedHosts: int(r.Status.VerifiedHosts), RejectedHosts: int(r.Status.RejectedHosts),
	}
	content, err := Unverified(r.Spec.Envelope)
	if err != nil {
		out.Problem = err.Error()
		return out
	}
	out.Digest, out.KeyID = content.Digest, content.KeyID
	if len(r.Spec.Components) == 0 {
		return out
	}
	components, err := UnverifiedComponents(r.Spec.Components, content.Digest)
	if err != nil {
		out.Problem = "its components: " + err.Error()
	}
	for i := range components.List {
		out.Components = append(out.Components, cliv1alpha1.ListedComponent{Name: components.List[i].Name, Version: components.List[i].Version})
	}
	return out
}
