package cluster

// IsVirtual reports whether a Node has no machine: a virtual kubelet registers it for another
// cluster or a cloud service, and reports neither a container runtime nor a kernel. The kubelet
// always reports both, and its version, at the same time.
func IsVirtual(kubelet, runtime, kernel string) bool {
	return kubelet != "" && runtime == "" && kernel == ""
}
