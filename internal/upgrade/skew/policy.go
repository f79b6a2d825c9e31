package skew

// The limits of the version skew policy.
const (
	// KubeletMinorsBehind is how many minor versions a kubelet, or a kube-proxy, may be older than
	// an API server.
	KubeletMinorsBehind = 3
	// APIServerMinorsApart is how many minor versions the API servers of one cluster may differ.
	APIServerMinorsApart = 1
	// ControllerMinorsBehind is how many minor versions a controller manager or scheduler may be
	// older than an API server.
	ControllerMinorsBehind = 1
)

// KubeletFits reports whether a kubelet or kube-proxy is supported with an API server: never newer,
// and at most three minor versions older. A newer patch version is fine.
func KubeletFits(kubelet, apiServer Version) bool {
	behind := kubelet.MinorsBehind(apiServer)
	return behind >= 0 && behind <= KubeletMinorsBehind
}

// APIServersFit reports whether two API servers are supported in one cluster.
func APIServersFit(v, w Version) bool {
	apart := v.MinorsBehind(w)
	return apart >= -APIServerMinorsApart && apart <= APIServerMinorsApart
}

// ControllerFits reports whether a controller manager or scheduler is supported with an API server.
func ControllerFits(controller, apiServer Version) bool {
	behind := controller.MinorsBehind(apiServer)
	return behind >= 0 && behind <= ControllerMinorsBehind
}
