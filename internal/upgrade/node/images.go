package node

import (
	"path"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// IsKubernetesImage reports whether an image of a ClusterRelease is one of kubeadm, and not of a
// component. Those of kubeadm are in the repository of the API server's image. Without that one,
// the names decide.
func IsKubernetesImage(p refitv1alpha1.ReleasePayload, image string) bool {
	repository := ""
	for i := range p.Images {
		if baseName(p.Images[i].Name) == "kube-apiserver" {
			repository = path.Dir(p.Images[i].Name)
			break
		}
	}
	folder := path.Dir(image)
	isThere := repository == "" || folder == repository
	switch baseName(image) {
	case "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy", "etcd", "pause":
		return isThere
	case "coredns": // kubeadm's default repository has it in a folder of its own
		return isThere || folder == repository+"/coredns"
	}
	return false
}

func baseName(image string) string {
	name, _, _ := strings.Cut(path.Base(image), ":")
	return name
}

// WithoutKubernetesImages returns a payload with the images of components only.
func WithoutKubernetesImages(p refitv1alpha1.ReleasePayload) refitv1alpha1.ReleasePayload {
	all := p.Images
	p.Images = nil
	for i := range all {
		if !IsKubernetesImage(refitv1alpha1.ReleasePayload{Images: all}, all[i].Name) {
			p.Images = append(p.Images, all[i])
		}
	}
	return p
}
