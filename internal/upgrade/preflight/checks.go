package preflight

import (
	"slices"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/componentplan"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// Check is one preflight check, named after the problem that it finds.
type Check struct {
	ID          string
	Severity    Severity // of its findings, unless a finding sets its own
	traits      trait
	Needs       []cluster.Part // the check is unanswered if one of these parts was not read
	find        func(*view) []Finding
	Description string // what a finding of this check means, in one line
}

type trait int

const (
	safety  trait = 1 << iota // the upgrade must not start while the check is unanswered
	agent                     // at least part of the answer comes from the agent on the host
	binding                   // the check cannot be waived
)

// Safety reports whether the upgrade must not start while the check is unanswered.
func (c Check) Safety() bool { return c.traits&safety != 0 }

// NeedsAgent reports whether at least part of the answer comes from the agent on the host.
func (c Check) NeedsAgent() bool { return c.traits&agent != 0 }

// Binding reports whether the check cannot be waived.
func (c Check) Binding() bool { return c.traits&binding != 0 }

// Checks returns the checks in the order in which their findings are reported.
func Checks() []Check { return slices.Clone(checks) }

// Run evaluates these checks itself, because they are about the other checks.
const (
	idPartUnreadable = "PartUnreadable"
	idAgentMissing   = "AgentMissing"
	idWaiverRefused  = "WaiverRefused"
	idWaiverUnused   = "WaiverUnused"
)

func byRun(*view) []Finding { return nil }

// The parts of a Snapshot that groups of checks need.
var (
	needNodes      = []cluster.Part{cluster.PartNodes}
	needAPIServers = []cluster.Part{cluster.PartNodes, cluster.PartAPIServers}
	needPods       = []cluster.Part{cluster.PartNodes, cluster.PartPods}
	needDrains     = []cluster.Part{cluster.PartNodes, cluster.PartPods, cluster.PartBudgets}
	needWebhooks   = []cluster.Part{cluster.PartWebhooks}
	needBackends   = []cluster.Part{cluster.PartWebhooks, cluster.PartBackends}
	needCRDs       = []cluster.Part{cluster.PartCRDs}
	needConverters = []cluster.Part{cluster.PartCRDs, cluster.PartBackends}
	needKubeadm    = []cluster.Part{cluster.PartKubeadm}
	needPatches    = []cluster.Part{cluster.PartKubeadm, cluster.PartReleases}
	needComponents = []cluster.Part{cluster.PartNodes, cluster.PartPods, cluster.PartKubeadm}
	needHelm       = []cluster.Part{cluster.PartHelm}
	needReports    = []cluster.Part{cluster.PartNodes, cluster.PartReports}
	needReleases   = []cluster.Part{cluster.PartReleases}
	needImages     = []cluster.Part{cluster.PartNodes, cluster.PartReleases}
	needHostFiles  = []cluster.Part{cluster.PartNodes, cluster.PartReports, cluster.PartReleases}
	needActors     = []cluster.Part{cluster.PartActors}
	needStores     = []cluster.Part{cluster.PartStores}
	needWindows    = []cluster.Part{cluster.PartWindows}

	needAddOns      = []cluster.Part{cluster.PartReleases, cluster.PartComponents}
	needAPIServices = []cluster.Part{cluster.PartAPIServices}
	needVolumes     = []cluster.Part{cluster.PartVolumes}
	needServices    = []cluster.Part{cluster.PartServices}
)

// checks lists every check, in the order in which findings are reported.
var checks = []Check{
	// Version path and skew.
	{"VersionPathUnsupported", Block, binding, nil, versionPathUnsupported, "Kubernetes or Refit does not support this version path"},
	{"AlreadyAtTarget", Info, 0, nil, alreadyAtTarget, "every node is already at the target version"},
	{"PatchBehind", Info, 0, nil, patchBehind, "the control plane is not at the newest patch of its minor version"},
	{"KubeletTooOld", Block, binding | safety, needNodes, kubeletTooOld, "a kubelet is too old for the API servers of a hop"},
	{"KubeletNewerThanAPIServer", Block, safety, needNodes, kubeletNewerThanAPIServer, "a kubelet is newer than an API server"},
	{"ControllerSkew", Block, safety, needPods, controllerSkew, "a controller manager or scheduler violates the version skew policy"},
	{"ProxySkew", Block, safety, needPods, proxySkew, "a kube-proxy violates the version skew policy"},
	{"APIServersMixed", Block, safety, needNodes, apiServersMixed, "API servers run different versions"},

	// Control plane.
	{"ControlPlaneNodeNotReady", Block, binding | safety, needNodes, controlPlaneNodeNotReady, "a control plane node is not ready"},
	{"APIServerNotReady", Block, safety | agent, needAPIServers, apiServerNotReady, "an API server is not ready"},
	{"APIServerUnknown", Block, safety | agent, needAPIServers, apiServerUnknown, "the readiness of an API server is unknown"},
	{"APIServerClockSkewed", Block, 0, needAPIServers, apiServerClockSkewed, "an API server's clock differs from the others'"},
	{"LocalClockSkewed", Block, binding, nil, localClockSkewed, "the clock of the machine that runs Refit differs from the API servers'"},
	{"ControlPlanePodNotReady", Block, safety, needPods, controlPlanePodNotReady, "a controller manager or scheduler is not ready"},
	{"StaticPodMissing", Block, safety | agent, needPods, staticPodMissing, "a control plane component has no static pod"},
	{"SingleControlPlane", Info, 0, needNodes, singleControlPlane, "the API is unavailable while the only control plane node is upgraded"},

	// etcd.
	{"EtcdMemberUnhealthy", Block, binding | safety | agent, needPods, etcdMemberUnhealthy, "an etcd member is unhealthy"},
	{"EtcdTwoMembers", Block, safety, needPods, etcdTwoMembers, "etcd has two members and loses quorum when either one restarts"},
	{"EtcdLearner", Block, binding | safety | agent, needNodes, etcdLearner, "an etcd member is a learner and cannot vote yet"},
	{"EtcdAlarm", Block, binding | safety | agent, needNodes, etcdAlarm, "etcd has an active alarm"},
	{"EtcdNearQuota", Block, safety | agent, needNodes, etcdNearQuota, "the etcd database is close to its quota"},
	{"EtcdTooOld", Block, binding | safety, needPods, etcdTooOld, "etcd cannot be upgraded safely to the version of a hop"},
	{"EtcdTagPinned", Block, safety, needComponents, etcdTagPinned, "the kubeadm configuration pins the etcd image tag"},
	{"EtcdMembershipDiffers", Block, safety | agent, needPods, etcdMembershipDiffers, "the etcd members do not match the control plane nodes"},
	{"EtcdUnknown", Block, safety, needPods, etcdUnknown, "Refit cannot determine where etcd runs"},
	{"EtcdExternalTooOld", Block, binding | safety | agent, needNodes, externalTooOld, "the external etcd is older than a hop supports"},
	{"EtcdExternal", Info, 0, needPods, etcdExternal, "etcd is external, and Refit neither upgrades nor restores it"},

	// The backup that the upgrade relies on.
	{policy.CheckBackup, Block, 0, needPods, backupProven, "no backup of etcd is proven before the control plane changes"},
	{"BackupStoreMissing", Block, 0, needStores, backupStoreMissing, "the BackupStore of the upgrade does not exist"},
	{"BackupOnSameHost", Warn, 0, needStores, backupOnSameHost, "the backup is on the only control plane host"},
	{"BackupIdentityUnproven", Warn, 0, needStores, backupIdentityUnproven, "nobody has proven that they can decrypt the backup"},
	{policy.CheckRehearsal, Warn, 0, nil, rehearsalUnknown, "a rehearsal could not decide whether the new version runs in this cluster"},

	{"WindowMissing", Block, binding, needWindows, windowMissing, "the MaintenanceWindow of the upgrade does not exist, or never opens"},

	// kubeadm and component configuration.
	{"KubeadmConfigMissing", Block, binding | safety, needKubeadm, kubeadmConfigMissing, "the kubeadm configuration is missing from the cluster"},
	{"KubeadmConfigTooOld", Block, safety, needKubeadm, kubeadmConfigTooOld, "the target's kubeadm cannot read the cluster's configuration"},
	{"KubeadmVersionDiffers", Warn, 0, needKubeadm, kubeadmVersionDiffers, "the kubeadm configuration and the API servers have different versions"},
	{"KubeadmGateInvalid", Block, safety, needKubeadm, kubeadmGateInvalid, "the target's kubeadm rejects one of its feature gates"},
	{"ConfigurationEdited", Warn, 0, needPatches, configurationEdited, "the kubeadm configuration keeps its own value of a field that a ClusterRelease sets"},
	{"RemovedComponentFlag", Block, safety, needComponents, removedComponentFlag, "a control plane component uses a flag that a hop removes"},
	{"RemovedFeatureGate", Block, safety | agent, needComponents, removedFeatureGate, "a component sets a feature gate that a hop rejects"},
	{"FeatureGateIncomplete", Block, safety | agent, needComponents, featureGateIncomplete, "a feature gate is enabled without its dependencies"},
	{"RemovedAdmissionPlugin", Block, safety, needComponents, removedAdmissionPlugin, "the API server configures an admission plugin that a hop removes"},
	{"RemovedRuntimeConfig", Block, safety, needComponents, removedRuntimeConfig, "--runtime-config names an API that a hop removes"},
	{"RemovedController", Block, safety, needComponents, removedController, "--controllers names a controller that a hop removes"},
	{"RemovedKubeletFlag", Block, safety | agent, needNodes, removedKubeletFlag, "a kubelet uses a flag that a hop removes"},
	{"RemovedKubeletField", Warn, agent, needKubeadm, removedKubeletField, "the kubelet configuration sets a field that a hop ignores"},
	{"CorefilePluginUnknown", Block, 0, needKubeadm, corefilePluginUnknown, "kubeadm cannot migrate a plugin in the Corefile"},
	{"IPVSMode", Warn, 0, needKubeadm, ipvsMode, "kube-proxy runs in a deprecated mode"},

	// Nodes.
	{"NodeNotReady", Block, safety, needNodes, nodeNotReady, "a worker is not ready"},
	{"NodeCordonedByHand", Block, safety, needNodes, nodeCordonedByHand, "a node is cordoned, but not by Refit"},
	{"SelectorMatchesNothing", Warn, 0, needNodes, selectorMatchesNothing, "the node selector of the upgrade or of a pool matches no worker"},
	{"NodeUnderPressure", Block, 0, needNodes, nodeUnderPressure, "a node is under disk, memory or PID pressure"},
	{"WindowsNode", Warn, 0, needNodes, windowsNode, "a node does not run Linux, and Refit does not upgrade it"},
	{"VirtualNode", Info, 0, needNodes, virtualNode, "a node has no machine, and Refit does not upgrade it"},
	{"AddonImagesNotPrefetched", Warn, 0, needImages, addonImagesNotPrefetched, "new add-ons also start on nodes outside the upgrade, without their images"},

	// Hosts.
	{"AgentTooOld", Block, binding | agent, needReports, agentTooOld, "an agent is too old for the orders or the ClusterRelease of this upgrade"},
	{"AgentSilent", Block, safety | agent, needReports, agentSilent, "an agent does not respond"},
	{"ReportOfAnotherMachine", Block, binding | safety | agent, needReports, reportOfAnotherMachine, "a NodeReport comes from a machine that was replaced"},
	{"ReleaseKeyMissing", Block, binding | agent, needReports, releaseKeyMissing, "a host has no pinned key to verify ClusterReleases"},
	{"PackageKindUnknown", Block, agent | binding, needReports, packageKindUnknown, "how Kubernetes was installed on a host is unknown"},
	{"NotInRelease", Block, binding | agent, needHostFiles, notInRelease, "a ClusterRelease has no file for a part of a host"},
	{"ServiceWrapped", Block, binding | agent, needReports, serviceWrapped, "a service starts a script instead of the binary that the upgrade replaces"},
	{"KubeletConfigElsewhere", Block, agent, needReports, kubeletConfigElsewhere, "a kubelet does not read the configuration that the upgrade writes"},
	{"ReadOnlyHost", Block, safety | agent, needReports, readOnlyHost, "a directory that the upgrade must write is read-only"},
	{"DiskTooSmall", Block, safety | agent, needReports, diskTooSmall, "a disk has too little free space"},
	{"InodesLow", Block, safety | agent, needReports, inodesLow, "a disk has too few free inodes"},
	{"CgroupV1", Block, safety | agent, needReports, cgroupV1, "a host uses cgroup v1, which the target's kubelet rejects"},
	{"RuntimeUnsupported", Block, binding, needNodes, runtimeUnsupported, "a host uses another container runtime than containerd"},
	{"CRIRuntimeConfigMissing", Block, agent, needNodes, criRuntimeConfigMissing, "a container runtime lacks the CRI method RuntimeConfig"},
	{"CertificateExpired", Block, safety | agent, needReports, certificateExpired, "a certificate has expired"},
	{"CertificateExpiresSoon", Warn, agent, needReports, certificateExpiresSoon, "a certificate expires within 30 days"},
	{"ClockSkewed", Block, agent, needReports, clockSkewed, "a host's clock differs from the API server's"},
	{policy.CheckUnreachable, Block, safety | agent, needReports, endpointUnreachable, "a host cannot reach the API endpoint"},
	{policy.CheckHeldTwice, Warn, agent, needReports, endpointHeldTwice, "more than one control plane node holds the API endpoint's address"},
	{"VirtualIPUnchecked", Warn, agent, needReports, virtualIPUnchecked, "a virtual IP stays on a node whose API server is down"},
	{"ManifestUnparsable", Block, safety | agent, needReports, manifestUnparsable, "a file in the static pod manifest directory is not a valid pod"},
	{"SecuritySettingLost", Block, agent, needReports, securitySettingLost, "the upgrade removes a security setting that only a static pod manifest has"},
	{"ManifestHandEdited", Warn, agent, needReports, manifestHandEdited, "the upgrade overwrites manual changes to a static pod manifest"},
	{"StaticPodReferencesAPI", Block, safety | agent, needReports, staticPodReferencesAPI, "a static pod references API objects, which the kubelet rejects"},
	{"KubeletReplaced", Warn, agent, needReports, kubeletReplaced, "the kubelet on disk is not the running version"},
	{"PackagesHeld", Warn, agent, needReports, packagesHeld, "a package that the ClusterRelease upgrades is on hold"},
	{"HostnameDiffers", Info, agent, needReports, hostnameDiffers, "the hostname differs from the node name"},
	{"SwapOn", Info, agent, needReports, swapOn, "a host has swap enabled"},

	// Drain.
	{"BudgetNeverAllows", Block, 0, needDrains, budgetNeverAllows, "a PodDisruptionBudget never allows a disruption"},
	{"BudgetFailed", Block, 0, needDrains, budgetFailed, "a PodDisruptionBudget cannot be computed and allows no disruption"},
	{"BudgetsOverlap", Block, 0, needDrains, budgetsOverlap, "pods covered by more than one PodDisruptionBudget cannot be evicted"},
	{"BudgetWaitsForNode", Block, 0, needDrains, budgetWaitsForNode, "a PodDisruptionBudget and pods bound to their node block each other"},
	{"BudgetExhausted", Warn, 0, needDrains, budgetExhausted, "a PodDisruptionBudget currently allows no disruption"},
	{"BudgetUnobserved", Warn, 0, needDrains, budgetUnobserved, "the status of a PodDisruptionBudget is out of date"},
	{"BudgetMatchesNothing", Info, 0, needDrains, budgetMatchesNothing, "a PodDisruptionBudget matches no pods"},
	{"NodesShareBudget", Info, 0, needDrains, nodesShareBudget, "nodes share a PodDisruptionBudget and cannot be drained at the same time"},
	{"DrainExceedsTimeout", Warn, 0, needDrains, drainExceedsTimeout, "draining a node may take longer than its timeout"},
	{"NoCapacity", Warn, 0, needPods, noCapacity, "the remaining nodes lack capacity for the pods of drained nodes"},
	{"UnmanagedPod", Block, safety, needPods, unmanagedPod, "a drain deletes a pod that no controller recreates"},
	{"LocalDataLost", Info, 0, needPods, localDataLost, "a drain deletes the data in an emptyDir volume"},
	{"PodNodeBound", Warn, 0, needPods, podNodeBound, "a pod can run only on its node and is unavailable during the upgrade"},
	{"PodStuckTerminating", Warn, 0, needPods, podStuckTerminating, "a pod is stuck in Terminating"},
	{"PodHasFinalizer", Warn, 0, needPods, podHasFinalizer, "a pod has a finalizer that delays its deletion"},
	{"PodNotSafeToEvict", Warn, 0, needPods, podNotSafeToEvict, "a pod is annotated as not safe to evict"},
	{"SingleReplica", Info, 0, needPods, singleReplica, "workloads with one replica are unavailable while they move"},
	{"SystemPodsNotReady", Warn, 0, needPods, systemPodsNotReady, "a workload in kube-system has unready pods"},

	// API extensions.
	{"WebhookUnreachable", Block, safety, needBackends, webhookUnreachable, "a fail-closed webhook is unreachable"},
	{"WebhookHasOneReplica", Block, safety, needBackends, webhookHasOneReplica, "draining one node makes a fail-closed webhook unavailable"},
	{"WebhookCAExpired", Block, safety, needWebhooks, webhookCAExpired, "the CA of a webhook has expired or expires within 30 days"},
	{"WebhookReachesSystem", Warn, 0, needWebhooks, webhookReachesSystem, "a fail-closed webhook matches objects that the upgrade needs"},
	{"WebhookMatchesExactly", Info, 0, needWebhooks, webhookMatchesExactly, "a webhook may not match API versions that the upgrade adds"},
	{"APIServiceUnavailable", Block, 0, needAPIServices, apiServiceUnavailable, "an aggregated API is unavailable"},
	{"CRDStoredVersionDropped", Block, 0, needCRDs, crdStoredVersionDropped, "etcd may contain custom resources that cannot be read"},
	{"CRDConversionUnreachable", Warn, 0, needConverters, crdConversionUnreachable, "custom resources cannot be converted between their versions"},
	{"CRDNotEstablished", Warn, 0, needCRDs, crdNotEstablished, "a CustomResourceDefinition is not established"},

	// Components.
	{policy.CheckComponentsMissing, Block, 0, needReleases, componentsNotInstalled, "a ClusterRelease has components, and refit-components does not run"},
	{componentplan.CheckNoPath, Block, safety, needAddOns, componentHasNoPath, "no offered version of a component leads through a hop"},
	{
		componentplan.CheckDeletesCRD, Block, binding | safety, needAddOns, componentProblemsOf(componentplan.CheckDeletesCRD),
		"the upgrade of a component would delete a CRD with all its objects",
	},
	{
		componentplan.CheckRemovesData, Block, binding | safety, needAddOns, componentProblemsOf(componentplan.CheckRemovesData),
		"the removal of a component would delete data",
	},
	{
		componentplan.CheckRefuses, Block, safety, needAddOns, componentProblemsOf(componentplan.CheckRefuses),
		"a new CRD of a component refuses existing objects",
	},
	{
		componentplan.CheckDrops, Block, safety, needAddOns, componentProblemsOf(componentplan.CheckDrops),
		"a new CRD of a component drops fields of existing objects",
	},
	{
		componentplan.CheckGitOps, Block, safety, needAddOns, componentProblemsOf(componentplan.CheckGitOps),
		"Flux or Argo CD manages a component that Refit would change",
	},
	{componentplan.CheckPending, Block, safety, needAddOns, componentProblemsOf(componentplan.CheckPending), "a Helm operation on a component is unfinished"},
	{componentplan.CheckPeer, Block, safety, needAddOns, componentProblemsOf(componentplan.CheckPeer), "a component does not work with the version of a peer"},
	{
		componentplan.CheckPeerUnknown, Block, safety, needAddOns, componentProblemsOf(componentplan.CheckPeerUnknown),
		"the version of a component in a peer is unknown",
	},
	{
		componentplan.CheckRecordLarge, Block, safety, needAddOns, componentProblemsOf(componentplan.CheckRecordLarge),
		"Helm's record of a component does not fit into a Secret",
	},
	{
		componentplan.CheckFailed, Block, safety, needAddOns, componentProblemsOf(componentplan.CheckFailed),
		"a check of the publisher of a component fails",
	},
	{
		componentplan.CheckInvalid, Block, safety, needAddOns, componentProblemsOf(componentplan.CheckInvalid),
		"a check of the publisher of a component cannot be evaluated",
	},
	{
		componentplan.CheckForm, Warn, 0, needAddOns, componentProblemsOf(componentplan.CheckForm),
		"the form of a publisher requires values that nobody has set",
	},
	{componentplan.CheckOtherProblem, Block, safety, needAddOns, otherComponentProblem, "another problem blocks the change of a component"},
	{componentplan.CheckNotOffered, Warn, 0, needAddOns, componentNotInRelease, "the target no longer has a component that Refit installed, and it stays"},
	{componentplan.CheckUnknown, Block, safety, needAddOns, componentsUnknown, "what the upgrade of a component changes is not known yet"},

	// Removed APIs and features.
	{"RemovedAPIInUse", Block, 0, needAPIServers, removedAPIInUse, "a client uses an API that a hop removes"},
	{"DeprecatedRequestsUnknown", Warn, 0, nil, deprecatedRequestsUnknown, "Refit cannot determine whether clients use an API that a hop removes"},
	{"RemovedAPIInHelmRelease", Block, 0, needHelm, removedAPIInHelmRelease, "a Helm release contains objects of an API that a hop removes"},
	{"HelmReleasePending", Warn, 0, needHelm, helmReleasePending, "a Helm operation was interrupted"},
	{"GitRepoVolume", Block, 0, needPods, gitRepoVolume, "a pod uses a gitRepo volume, which a hop's kubelet cannot mount"},
	{"InTreeVolume", Warn, 0, needVolumes, inTreeVolume, "a PersistentVolume uses a removed in-tree driver"},
	{"ExternalIPsUsed", Warn, 0, needServices, externalIPsUsed, "a Service uses the deprecated field externalIPs"},

	// Other software that manages nodes.
	{"OtherUpgrader", Block, 0, needActors, otherUpgrader, "other software upgrades or drains nodes"},
	{"ClusterAPIManaged", Warn, 0, needActors, clusterAPIManaged, "Cluster API may replace the nodes"},
	{"ClusterAutoscalerActive", Warn, 0, needActors, clusterAutoscalerActive, "an autoscaler may remove nodes during the upgrade"},
	{"GitOpsActive", Info, 0, needActors, gitOpsActive, "a GitOps tool may revert what the upgrade changes"},
	{"OlderOperation", Info, 0, nil, olderOperation, "an older upgrade is not finished"},

	// ClusterReleases, unread parts and waivers.
	{"ReleaseMissing", Block, binding, needReleases, releaseMissing, "no ClusterRelease exists for a hop"},
	{"ReleaseUnreadable", Warn, 0, needReleases, releaseUnreadable, "a ClusterRelease cannot be used"},
	{idPartUnreadable, Block, 0, nil, byRun, "part of the cluster could not be read, so checks are unanswered"},
	{idAgentMissing, Block, binding, nil, byRun, "hosts have no agent yet, so checks are unanswered"},
	{idWaiverRefused, Warn, 0, nil, byRun, "a waiver names a finding that cannot be waived"},
	{idWaiverUnused, Warn, 0, nil, byRun, "a waiver matches no finding"},
}
