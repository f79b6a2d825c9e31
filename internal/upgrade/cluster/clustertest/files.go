package clustertest

import (
	"fmt"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// DebFiles returns the files of a ClusterRelease for simulated hosts, which have Kubernetes from
// Debian packages.
func DebFiles(version string) []refitv1alpha1.ReleaseFile {
	var out []refitv1alpha1.ReleaseFile
	for i, part := range []refitv1alpha1.Part{refitv1alpha1.PartKubeadm, refitv1alpha1.PartKubelet, refitv1alpha1.PartKubectl} {
		out = append(out, refitv1alpha1.ReleaseFile{
			Part: part, Name: string(part), Kind: refitv1alpha1.PackageDeb, OS: "linux", Arch: "amd64", Version: strings.TrimPrefix(version, "v") + "-1.1",
			Blob: refitv1alpha1.Blob{Digest: fmt.Sprintf("sha256:%064x", i+1), Size: 1},
		})
	}
	return out
}
