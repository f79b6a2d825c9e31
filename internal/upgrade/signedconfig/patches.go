package signedconfig

import (
	"strconv"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/configpatch"
)

// Of returns the fields of a signed patch, none of nil.
func Of(patch *refitv1alpha1.ClusterConfigurationPatch) configpatch.Values {
	out := configpatch.Values{}
	if patch == nil {
		return out
	}
	args := map[configpatch.Section]*refitv1alpha1.ControlPlaneComponentPatch{
		configpatch.APIServerArgs: patch.APIServer, configpatch.ControllerManagerArgs: patch.ControllerManager, configpatch.SchedulerArgs: patch.Scheduler,
	}
	if patch.Etcd != nil {
		args[configpatch.EtcdArgs] = patch.Etcd.Local
	}
	for s, component := range args {
		if component == nil {
			continue
		}
		for _, arg := range component.ExtraArgs {
			out[s.Field(arg.Name)] = append(out[s.Field(arg.Name)], arg.Value)
		}
	}
	for name, on := range patch.FeatureGates {
		out[configpatch.FeatureGates.Field(name)] = []string{strconv.FormatBool(on)}
	}
	return out
}

// Along returns how the patches of ClusterReleases, one after the other, change the
// ClusterConfiguration of a cluster.
func Along(k *cluster.Kubeadm, releases []*cluster.Release) []configpatch.Result {
	var patches []configpatch.Values
	for _, r := range releases {
		patch := Of(r.Payload.ClusterConfiguration)
		if k.ExternalEtcd {
			patch = patch.WithoutEtcd()
		}
		patches = append(patches, patch)
	}
	return configpatch.Along(k.Configured, k.Patched, patches)
}
