package preflight

import (
	"slices"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// Check is one question about a cluster, named after what is wrong when it finds something.
type Check struct {
	ID       string
	Severity Severity // of its findings, unless one says otherwise
	traits   trait
	Needs    []cluster.Part // without which there is no answer
	find     func(*view) []Finding
	Says     string // what a finding of it means, in one line
}

type trait int

const (
	safety  trait = 1 << iota // an upgrade must not start without an answer
	host                      // it asks, at least in part, for facts that only an agent on the host can tell
	binding                   // no waiver sets it aside
)

// Safety says whether an upgrade must not start without an answer.
func (c Check) Safety() bool { return c.traits&safety != 0 }

// NeedsHost says whether it asks, at least in part, for facts that only an agent on the host can tell.
func (c Check) NeedsHost() bool { return c.traits&host != 0 }

// Binding says whether no waiver sets it aside.
func (c Check) Binding() bool { return c.traits&binding != 0 }

// Checks returns the checks in the order in which their findings are told.
func Checks() []Check { return slices.Clone(checks) }

// The checks that Run asks itself, since they are about the other checks.
const (
	idPartUnreadable = "PartUnreadable"
	idAgentMissing   = "AgentMissing"
	idWaiverRefused  = "WaiverRefused"
	idWaiverUnused   = "WaiverUnused"
)

func byRun(*view) []Finding { return nil }

// The parts of a cluster by which checks are grouped.
var (
	theNodes      = []cluster.Part{cluster.PartNodes}
	theServers    = []cluster.Part{cluster.PartNodes, cluster.PartAPIServers}
	thePods       = []cluster.Part{cluster.PartNodes, cluster.PartPods}
	theDrains     = []cluster.Part{cluster.PartNodes, cluster.PartPods, cluster.PartBudgets}
	theWebhooks   = []cluster.Part{cluster.PartWebhooks}
	theBackends   = []cluster.Part{cluster.PartWebhooks, cluster.PartBackends}
	theCRDs       = []cluster.Part{cluster.PartCRDs}
	theConverters = []cluster.Part{cluster.PartCRDs, cluster.PartBackends}
	theKubeadm    = []cluster.Part{cluster.PartKubeadm}
	theComponents = []cluster.Part{cluster.PartNodes, cluster.PartPods, cluster.PartKubeadm}
	theHelm       = []cluster.Part{cluster.PartHelm}
	theReports    = []cluster.Part{cluster.PartNodes, cluster.PartReports}
	theReleases   = []cluster.Part{cluster.PartReleases}
	theActors     = []cluster.Part{cluster.PartActors}

	theAPIs     = []cluster.Part{cluster.PartAPIServices}
	theVolumes  = []cluster.Part{cluster.PartVolumes}
	theServices = []cluster.Part{cluster.PartServices}
)

// checks is every check that there is, in the order in which findings are told.
var checks = []Check{
	// Where the cluster is and where it goes.
	{"VersionPathUnsupported", Block, binding, nil, versionPathUnsupported, "Kubernetes cannot go this way, or Refit does not know it"},
	{"AlreadyAtTarget", Info, 0, nil, alreadyAtTarget, "there is nothing to do"},
	{"PatchBehind", Info, 0, nil, patchBehind, "the control plane is not at the newest patch of its minor version"},
	{"KubeletTooOld", Block, binding | safety, theNodes, kubeletTooOld, "a kubelet would be too old for the API servers of a hop"},
	{"KubeletNewerThanAPIServer", Block, safety, theNodes, kubeletNewerThanAPIServer, "a kubelet is newer than an API server"},
	{"ControllerSkew", Block, safety, thePods, controllerSkew, "a controller manager or scheduler does not fit the API servers"},
	{"ProxySkew", Block, safety, thePods, proxySkew, "a kube-proxy does not fit the API servers"},
	{"APIServersMixed", Block, safety, theNodes, apiServersMixed, "API servers run different versions"},

	// The control plane.
	{"ControlPlaneNodeNotReady", Block, binding | safety, theNodes, controlPlaneNodeNotReady, "a control plane node is not ready"},
	{"APIServerNotReady", Block, safety | host, theServers, apiServerNotReady, "an API server is not ready"},
	{"APIServerUnknown", Block, safety | host, theServers, apiServerUnknown, "an API server could not be asked"},
	{"ControlPlanePodNotReady", Block, safety, thePods, controlPlanePodNotReady, "a controller manager or scheduler is not ready"},
	{"StaticPodMissing", Block, safety | host, thePods, staticPodMissing, "a part of the control plane has no static pod"},
	{"SingleControlPlane", Info, 0, theNodes, singleControlPlane, "the API is away while the only control plane node is upgraded"},

	// etcd.
	{"EtcdMemberUnhealthy", Block, binding | safety | host, thePods, etcdMemberUnhealthy, "an etcd member is down"},
	{"EtcdTwoMembers", Block, safety, thePods, etcdTwoMembers, "etcd has two members and cannot do without either"},
	{"EtcdLearner", Block, binding | safety | host, theNodes, etcdLearner, "an etcd member has no vote yet"},
	{"EtcdAlarm", Block, binding | safety | host, theNodes, etcdAlarm, "etcd raises an alarm"},
	{"EtcdNearQuota", Block, safety | host, theNodes, etcdNearQuota, "etcd's database is nearly full"},
	{"EtcdTooOld", Block, binding | safety, thePods, etcdTooOld, "etcd cannot safely go to the version that a hop brings"},
	{"EtcdTagPinned", Block, safety, theComponents, etcdTagPinned, "kubeadm's configuration keeps etcd at a tag, whatever a hop brings"},
	{"EtcdMembershipDiffers", Block, safety | host, thePods, etcdMembershipDiffers, "etcd has other members than the control plane has nodes"},
	{"EtcdUnknown", Block, safety, thePods, etcdUnknown, "where etcd runs is not known"},
	{"EtcdExternal", Info, 0, thePods, etcdExternal, "etcd is run by somebody else and not touched"},

	// kubeadm and what the components are started with.
	{"KubeadmConfigMissing", Block, binding | safety, theKubeadm, kubeadmConfigMissing, "kubeadm did not make this cluster, or its configuration is gone"},
	{"KubeadmConfigTooOld", Block, safety, theKubeadm, kubeadmConfigTooOld, "the target's kubeadm cannot read the cluster's configuration"},
	{"KubeadmVersionDiffers", Warn, 0, theKubeadm, kubeadmVersionDiffers, "kubeadm's configuration names another version than the API servers run"},
	{"KubeadmGateInvalid", Block, safety, theKubeadm, kubeadmGateInvalid, "a feature gate of kubeadm does not go with the target"},
	{"RemovedComponentFlag", Block, safety, theComponents, removedComponentFlag, "a control plane component has a flag that a hop does not know"},
	{"RemovedFeatureGate", Block, safety | host, theComponents, removedFeatureGate, "a component has a feature gate that a hop refuses"},
	{"FeatureGateIncomplete", Block, safety | host, theComponents, featureGateIncomplete, "a feature gate is on without those that it needs"},
	{"RemovedAdmissionPlugin", Block, safety, theComponents, removedAdmissionPlugin, "the API server has an admission plugin that a hop does not know"},
	{"RemovedRuntimeConfig", Block, safety, theComponents, removedRuntimeConfig, "the API server's runtime-config names an API that a hop cannot serve"},
	{"RemovedController", Block, safety, theComponents, removedController, "the controller manager names a controller that a hop does not know"},
	{"RemovedKubeletFlag", Block, safety | host, theNodes, removedKubeletFlag, "a kubelet has a flag that a hop does not know"},
	{"RemovedKubeletField", Warn, host, theKubeadm, removedKubeletField, "a kubelet's configuration has a field that a hop ignores"},
	{"CorefilePluginUnknown", Block, 0, theKubeadm, corefilePluginUnknown, "kubeadm does not know how to upgrade CoreDNS with one of its plugins"},
	{"IPVSMode", Warn, 0, theKubeadm, ipvsMode, "kube-proxy runs in a mode that is about to go"},

	// Nodes.
	{"NodeNotReady", Block, safety, theNodes, nodeNotReady, "a worker is not ready"},
	{"NodeCordonedByHand", Block, safety, theNodes, nodeCordonedByHand, "a node is cordoned, and not by Refit"},
	{"NodeUnderPressure", Block, 0, theNodes, nodeUnderPressure, "a node is short of disk, memory or processes"},
	{"WindowsNode", Warn, 0, theNodes, windowsNode, "a node does not run Linux and is left as it is"},

	// Hosts.
	{"AgentTooOld", Block, binding | host, theReports, agentTooOld, "an agent does not understand this controller's orders"},
	{"AgentSilent", Block, safety | host, theReports, agentSilent, "an agent does not answer"},
	{"ReportOfAnotherMachine", Block, binding | safety | host, theReports, reportOfAnotherMachine, "a report is of a machine that is gone"},
	{"ReleaseKeyMissing", Block, binding | host, theReports, releaseKeyMissing, "a host has no key to check Releases with"},
	{"RpmHost", Block, binding | host, theReports, rpmHost, "a host's packages are of a kind that Refit cannot replace"},
	{"ReadOnlyHost", Block, safety | host, theReports, readOnlyHost, "a directory that the upgrade writes to is read-only"},
	{"DiskTooSmall", Block, safety | host, theReports, diskTooSmall, "a disk has too little room"},
	{"InodesLow", Block, safety | host, theReports, inodesLow, "a disk has too few inodes"},
	{"CgroupV1", Block, safety | host, theReports, cgroupV1, "a host uses cgroup v1, which the target's kubelet refuses"},
	{"CRIRuntimeConfigMissing", Block, host, theNodes, criRuntimeConfigMissing, "a container runtime is too old for the kubelet, now or soon"},
	{"CertificateExpired", Block, safety | host, theReports, certificateExpired, "a certificate has expired"},
	{"CertificateExpiresSoon", Warn, host, theReports, certificateExpiresSoon, "a certificate expires within 30 days"},
	{"ClockSkewed", Block, host, theReports, clockSkewed, "a host's clock is wrong"},
	{"EndpointUnreachable", Block, safety | host, theReports, endpointUnreachable, "a host does not reach the API endpoint"},
	{"ManifestUnparsable", Block, safety | host, theReports, manifestUnparsable, "a file in the manifests directory is no pod"},
	{"ManifestHandEdited", Warn, host, theReports, manifestHandEdited, "a manifest was edited by hand, and the upgrade loses that"},
	{"StaticPodReferencesAPI", Block, safety | host, theReports, staticPodReferencesAPI, "a static pod refers to API objects, which a hop's kubelet refuses"},
	{"KubeletReplaced", Warn, host, theReports, kubeletReplaced, "the kubelet on disk is not the one that runs"},
	{"PackagesHeld", Warn, host, theReports, packagesHeld, "a package that the ClusterRelease replaces is held"},
	{"HostnameDiffers", Info, host, theReports, hostnameDiffers, "a host has another name than its node"},
	{"SwapOn", Info, host, theReports, swapOn, "a host uses swap"},

	// What a drain meets.
	{"BudgetNeverAllows", Block, 0, theDrains, budgetNeverAllows, "a PodDisruptionBudget never lets a pod go"},
	{"BudgetFailed", Block, 0, theDrains, budgetFailed, "a PodDisruptionBudget cannot count its pods, and lets none go"},
	{"BudgetsOverlap", Block, 0, theDrains, budgetsOverlap, "pods with two PodDisruptionBudgets cannot be evicted"},
	{"BudgetWaitsForNode", Block, 0, theDrains, budgetWaitsForNode, "a PodDisruptionBudget and pods bound to their node wait for each other"},
	{"BudgetExhausted", Warn, 0, theDrains, budgetExhausted, "a PodDisruptionBudget lets nothing go at this moment"},
	{"BudgetUnobserved", Warn, 0, theDrains, budgetUnobserved, "what a PodDisruptionBudget allows is not known"},
	{"BudgetMatchesNothing", Info, 0, theDrains, budgetMatchesNothing, "a PodDisruptionBudget protects nothing"},
	{"NodesShareBudget", Info, 0, theDrains, nodesShareBudget, "nodes cannot be drained together, for a budget that they share"},
	{"DrainExceedsTimeout", Warn, 0, theDrains, drainExceedsTimeout, "draining a node may take longer than its timeout"},
	{"NoCapacity", Warn, 0, thePods, noCapacity, "the pods of drained nodes find no room elsewhere"},
	{"UnmanagedPod", Block, safety, thePods, unmanagedPod, "a drain would end a pod that nobody makes anew"},
	{"LocalDataLost", Info, 0, thePods, localDataLost, "a drain loses what is in an emptyDir"},
	{"PodNodeBound", Warn, 0, thePods, podNodeBound, "a pod can run on its node only and is down with it"},
	{"PodStuckTerminating", Warn, 0, thePods, podStuckTerminating, "a pod was asked to end and has not"},
	{"PodHasFinalizer", Warn, 0, thePods, podHasFinalizer, "a pod ends only when somebody removes its finalizer"},
	{"PodNotSafeToEvict", Warn, 0, thePods, podNotSafeToEvict, "a pod asks not to be evicted"},
	{"SingleReplica", Info, 0, thePods, singleReplica, "workloads with one replica have a gap"},
	{"SystemPodsNotReady", Warn, 0, thePods, systemPodsNotReady, "a workload in kube-system is not whole"},

	// What extends the API.
	{"WebhookUnreachable", Block, safety, theBackends, webhookUnreachable, "a webhook that fails closed does not answer"},
	{"WebhookHasOneReplica", Block, safety, theBackends, webhookHasOneReplica, "a webhook that fails closed is away while one node is drained"},
	{"WebhookCAExpired", Block, safety, theWebhooks, webhookCAExpired, "a webhook's CA has expired or is about to"},
	{"WebhookReachesSystem", Warn, 0, theWebhooks, webhookReachesSystem, "a webhook that fails closed is asked about the system's own objects"},
	{"WebhookMatchesExactly", Info, 0, theWebhooks, webhookMatchesExactly, "a webhook may miss API versions that the upgrade brings"},
	{"APIServiceUnavailable", Block, 0, theAPIs, apiServiceUnavailable, "an aggregated API does not answer"},
	{"CRDStoredVersionDropped", Block, 0, theCRDs, crdStoredVersionDropped, "etcd may hold custom resources that cannot be read"},
	{"CRDConversionUnreachable", Warn, 0, theConverters, crdConversionUnreachable, "custom resources cannot be converted between their versions"},
	{"CRDNotEstablished", Warn, 0, theCRDs, crdNotEstablished, "a custom resource is not served"},

	// What a hop removes.
	{"RemovedAPIInUse", Block, 0, theServers, removedAPIInUse, "somebody uses an API that a hop removes"},
	{"DeprecatedRequestsUnknown", Warn, 0, nil, deprecatedRequestsUnknown, "whether somebody uses an API that a hop removes is not known"},
	{"RemovedAPIInHelmRelease", Block, 0, theHelm, removedAPIInHelmRelease, "a Helm release was written in an API that a hop removes"},
	{"HelmReleasePending", Warn, 0, theHelm, helmReleasePending, "Helm was interrupted and refuses to go on"},
	{"GitRepoVolume", Block, 0, thePods, gitRepoVolume, "a pod has a volume that a hop's kubelet cannot mount"},
	{"InTreeVolume", Warn, 0, theVolumes, inTreeVolume, "a persistent volume is of a kind that Kubernetes cannot mount by itself"},
	{"ExternalIPsUsed", Warn, 0, theServices, externalIPsUsed, "a Service uses a field that is about to go"},

	// Others who change nodes.
	{"OtherUpgrader", Block, 0, theActors, otherUpgrader, "something else upgrades or drains nodes"},
	{"ClusterAPIManaged", Warn, 0, theActors, clusterAPIManaged, "Cluster API may replace the nodes"},
	{"ClusterAutoscalerActive", Warn, 0, theActors, clusterAutoscalerActive, "an autoscaler may remove nodes that are being upgraded"},
	{"GitOpsActive", Info, 0, theActors, gitOpsActive, "a GitOps tool may put back what the upgrade changes"},
	{"OlderOperation", Info, 0, nil, olderOperation, "an older upgrade is not finished"},

	// Releases, and what was not read.
	{"ReleaseMissing", Block, binding, theReleases, releaseMissing, "there is nothing to install for a hop"},
	{"ReleaseUnreadable", Warn, 0, theReleases, releaseUnreadable, "a ClusterRelease cannot be used"},
	{idPartUnreadable, Block, 0, nil, byRun, "a part of the cluster could not be read, so checks have no answer"},
	{idAgentMissing, Block, binding, nil, byRun, "checks wait for agents on the hosts"},
	{idWaiverRefused, Warn, 0, nil, byRun, "a waiver names what cannot be waived"},
	{idWaiverUnused, Info, 0, nil, byRun, "a waiver sets nothing aside"},
}
