// Package host reads what a support bundle has of one host: the journals of the agent, the kubelet
// and containerd, and, outside of a Pod, the agent's own files. It needs neither the API server nor
// the kubelet, and changes nothing on the host.
package host
