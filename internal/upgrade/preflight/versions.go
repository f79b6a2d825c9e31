package preflight

import (
	"fmt"

	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// floor is the oldest control plane version that serves the API features in use.
var floor = skew.Version{Major: 1, Minor: 31}

func versionPathUnsupported(v *view) []Finding {
	from, to := v.Path.From, v.Path.To
	switch {
	case to.IsZero():
		return []Finding{{
			Message: "the target version is unknown",
			Remedy:  "Specify a version such as v1.36.3, or a ClusterRelease that exists in the cluster.",
		}}
	case from.IsZero():
		return []Finding{{
			Unknown: true,
			Message: "the version of the control plane is unknown: no API server reported it",
			Remedy:  "Make sure that the API servers are reachable: `kubectl get --raw /version`",
		}}
	case v.movesControlPlane() && to.Before(from):
		return []Finding{{
			Message: fmt.Sprintf("the control plane is already at %s: Kubernetes does not support a downgrade to %s", from, to),
			Remedy:  fmt.Sprintf("Choose %s or a later version.", from),
		}}
	case from.Before(floor):
		return []Finding{{
			Message: fmt.Sprintf("the control plane is at %s, but Refit requires %s or later", from, floor.MinorString()),
			Remedy:  fmt.Sprintf("Upgrade the cluster to %s with kubeadm first.", floor.MinorString()),
		}}
	case len(v.hops) == 0:
		return []Finding{{
			Message: fmt.Sprintf("there is no supported upgrade path from %s to %s", from, to),
			Remedy:  "Choose a version that the skew policy allows for the nodes: not newer than the control plane, and at most three minor versions older.",
		}}
	}
	var found []Finding
	for _, h := range v.hops {
		if h.facts == nil {
			known := kubefacts.Supported()
			found = append(found, Finding{
				Message: fmt.Sprintf("the upgrade path includes Kubernetes %s, but this version of Refit supports only %s to %s",
					h.version.MinorString(), known[0], known[len(known)-1]),
				Remedy: "Use a version of Refit that supports it, or choose another target version.",
			})
		}
	}
	return found
}

func alreadyAtTarget(v *view) []Finding {
	for i := range v.nodes {
		if v.nodes[i].touched {
			return nil
		}
	}
	if v.Path.To.IsZero() || len(v.nodes) == 0 || len(v.hops) == 0 || len(v.components.Steps) > 0 {
		return nil
	}
	return []Finding{{
		Message: fmt.Sprintf("all nodes in scope are already at %s", v.Path.To),
		Remedy:  "No action is required.",
	}}
}

func patchBehind(v *view) []Finding {
	from := v.Path.From
	if v.from == nil || len(v.hops) == 0 || v.Path.To.SameMinor(from) || !v.movesControlPlane() {
		return nil
	}
	newest, err := skew.Parse(v.from.Version)
	if err != nil || !from.Before(newest) {
		return nil
	}
	return []Finding{{
		Message: fmt.Sprintf("the control plane is at %s, but %s is available: Kubernetes recommends the latest patch release before a minor upgrade",
			from, newest),
		Remedy: fmt.Sprintf("Consider an upgrade to %s or later first.", newest),
	}}
}

// kubeletTooOld checks the version of each kubelet against the API servers of every hop.
func kubeletTooOld(v *view) []Finding {
	if !v.movesControlPlane() {
		return nil
	}
	var found []Finding
	for i := range v.nodes {
		n := &v.nodes[i]
		if n.kubelet.IsZero() {
			found = append(found, Finding{
				Unknown: true,
				Object:  n.object(),
				Message: fmt.Sprintf("the kubelet version of %s is unknown", n.Name),
				Remedy:  "Inspect the node: " + command("kubectl describe node "+n.Name),
			})
			continue
		}
		version := n.kubelet
		for _, h := range v.hops {
			if behind := version.MinorsBehind(h.version); behind > skew.KubeletMinorsBehind {
				oldest := skew.Version{Major: h.version.Major, Minor: h.version.Minor - skew.KubeletMinorsBehind}
				found = append(found, Finding{
					Object: n.object(),
					Message: fmt.Sprintf("the kubelet on %s is at %s, %d minor versions older than API servers at %s: at most %d are supported",
						n.Name, version, behind, h, skew.KubeletMinorsBehind),
					Remedy: fmt.Sprintf("Upgrade the kubelet on %s to %s or later first, for example to %s. For workers, run an upgrade with scope Workers.",
						n.Name, oldest.MinorString(), v.Path.From),
				})
				break
			}
			if !n.leftOut && h.takes(n.Node) && version.Before(h.version) {
				version = h.version
			}
		}
	}
	return found
}

func kubeletNewerThanAPIServer(v *view) []Finding {
	var found []Finding
	for i := range v.nodes {
		n := &v.nodes[i]
		if n.kubelet.IsZero() || v.oldest.IsZero() || n.kubelet.MinorsBehind(v.oldest) >= 0 {
			continue
		}
		f := Finding{
			Severity: Warn,
			Object:   n.object(),
			Message:  fmt.Sprintf("the kubelet on %s is at %s, newer than an API server at %s", n.Name, n.kubelet, v.oldest),
			Remedy: fmt.Sprintf("This upgrade fixes the skew. To prevent it in the future, hold the package on %s: `%s kubelet`",
				n.Name, hold(n)),
		}
		if n.kubelet.MinorsBehind(v.Path.To) < 0 || !v.movesControlPlane() {
			f.Severity = Block
			f.Remedy = fmt.Sprintf("Downgrade the kubelet on %s to %s, or upgrade the control plane to %s.",
				n.Name, v.oldest.MinorString(), n.kubelet.MinorString())
		}
		found = append(found, f)
	}
	return found
}

// controllerSkew: a controller manager or scheduler must not be newer than an API server, and at
// most one minor version older.
func controllerSkew(v *view) []Finding {
	if !v.movesControlPlane() || v.oldest.IsZero() || len(v.ahead) == 0 {
		return nil
	}
	var found []Finding
	for _, n := range v.controlPlane() {
		for _, component := range []string{kubefacts.KubeControllerManager, kubefacts.KubeScheduler} {
			pod, has := n.Static[component]
			if !has {
				continue
			}
			object := podObject(component, n)
			version, err := skew.Parse(pod.Version)
			switch next := v.ahead[0].version; {
			case err != nil:
				found = append(found, Finding{
					Severity: Warn,
					Unknown:  true,
					Object:   object,
					Message:  fmt.Sprintf("the version of %s on %s cannot be determined from its image %s", component, n.Name, pod.Image),
					Remedy:   "Use an image whose tag is a version, such as registry.k8s.io/" + component + ":" + v.oldest.String(),
				})
			case version.MinorsBehind(v.newest) < 0:
				found = append(found, Finding{
					Object:  object,
					Message: fmt.Sprintf("%s on %s is at %s, newer than all API servers (%s)", component, n.Name, version, v.newest),
					Remedy:  fmt.Sprintf("Set its image to %s in /etc/kubernetes/manifests/%s.yaml on %s.", v.oldest, component, n.Name),
				})
			case version.MinorsBehind(next) > skew.ControllerMinorsBehind:
				found = append(found, Finding{
					Object: object,
					Message: fmt.Sprintf("%s on %s is at %s, more than one minor version older than API servers at %s",
						component, n.Name, version, v.ahead[0]),
					Remedy: fmt.Sprintf("Finish the previous upgrade of %s first. On %s, run `kubeadm upgrade node`", n.Name, n.Name),
				})
			}
		}
	}
	return found
}

func proxySkew(v *view) []Finding {
	if !v.movesControlPlane() || len(v.ahead) == 0 {
		return nil
	}
	var found []Finding
	for i := range v.nodes {
		n := &v.nodes[i]
		version, err := skew.Parse(n.KubeProxy)
		if err != nil || v.oldest.IsZero() {
			continue // no kube-proxy, or one with its own versions
		}
		remedy := "Set kube-proxy to the version of the control plane: " +
			command("kubectl -n kube-system set image daemonset/kube-proxy kube-proxy=registry.k8s.io/kube-proxy:"+v.oldest.String())
		if behind := version.MinorsBehind(v.ahead[0].version); behind > skew.KubeletMinorsBehind {
			found = append(found, Finding{
				Object: n.object(),
				Remedy: remedy,
				Message: fmt.Sprintf("kube-proxy on %s is at %s, %d minor versions older than API servers at %s: at most %d are supported",
					n.Name, version, behind, v.ahead[0], skew.KubeletMinorsBehind),
			})
		} else if version.MinorsBehind(v.oldest) < 0 {
			found = append(found, Finding{
				Severity: Warn,
				Object:   n.object(),
				Remedy:   remedy,
				Message:  fmt.Sprintf("kube-proxy on %s is at %s, newer than an API server at %s", n.Name, version, v.oldest),
			})
		}
	}
	return found
}

func podObject(component string, n *node) string {
	return fmt.Sprintf("Pod kube-system/%s-%s", component, n.Name)
}
