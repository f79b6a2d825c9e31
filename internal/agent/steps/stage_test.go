package steps

import (
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestToolsOfAClusterRelease(t *testing.T) {
	for _, tt := range []struct {
		part       refitv1alpha1.Part
		name, want string
		kind       refitv1alpha1.PackageKind
	}{
		{refitv1alpha1.PartKubeadm, "kubeadm", "kubeadm", refitv1alpha1.PackageDeb},
		{refitv1alpha1.PartContainerd, "containerd", "containerd", refitv1alpha1.PackageBinary},
		{refitv1alpha1.PartContainerd, "ctr", "", refitv1alpha1.PackageBinary},
		{refitv1alpha1.PartContainerd, "containerd.io", "containerd", refitv1alpha1.PackageDeb},
		{refitv1alpha1.PartRunc, "runc", "", refitv1alpha1.PackageBinary},
	} {
		if got := toolOf(refitv1alpha1.ReleaseFile{Part: tt.part, Name: tt.name, Kind: tt.kind}); got != tt.want {
			t.Errorf("%s %s: %q", tt.part, tt.name, got)
		}
	}
}
