package versions

// KubeVIP moves the address of the API endpoint between control plane nodes.
const KubeVIP = "v0.9.1"

// KubeVIPImage is its image, named as upstream's.
const KubeVIPImage = "ghcr.io/kube-vip/kube-vip:" + KubeVIP
