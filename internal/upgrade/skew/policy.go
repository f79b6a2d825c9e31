package skew

// What the version skew policy allows beside an API server.
const (
	// KubeletMinorsBehind is how many minor versions a kubelet, or a kube-proxy, may be older than an API server.
	KubeletMinorsBehind = 3
	// APIServerMinorsApart is how many minor versions the API servers of one cluster may differ.
	APIServerMinorsApart = 1
	// ControllerMinorsBehind is how many minor versions a controller manager or scheduler may be older than an API server.
	ControllerMinorsBehind = 1
)

// KubeletFits says whether a kubelet or kube-proxy of this version may speak to such an API server: never newer, at most three minor versions older.
// A newer patch of the same minor version is fine.
func KubeletFits(kubelet, apiServer Version) bool {
	behind := kubelet.MinorsBehind(apiServer)
	return behind >= 0 && behind <= KubeletMinorsBehind
}

// APIServersFit says whether two API servers of these versions may serve one cluster.
func APIServersFit(v, w Version) bool {
	apart := v.MinorsBehind(w)
	return apart >= -APIServerMinorsApart && apart <= APIServerMinorsApart
}

// ControllerFits says whether a controller manager or scheduler of this version may speak to such an API server.
func ControllerFits(controller, apiServer Version) bool {
	behind := controller.MinorsBehind(apiServer)
	return behind >= 0 && behind <= ControllerMinorsBehind
}
