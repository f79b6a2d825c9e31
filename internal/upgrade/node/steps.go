package node

import (
	"slices"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Step is one action on a host. Step lists are data; the agent implements each name.
type Step struct {
	Name string
	// Description is shown to operators.
	Description string
	// Prefetch is set if the step disrupts nothing and runs with the permit Prefetch.
	Prefetch bool
	// Disrupts is set if the step interrupts something that runs. From the first such step on, a
	// failure rolls the host back.
	Disrupts bool
	// API is what the step and its undo do to the API server of the host.
	API Interruption
	// Undo is how a rollback undoes the step.
	Undo Undo
	// Limit is the timeout of the step.
	Limit time.Duration

	// when reports whether a host needs the step; nil means every host.
	when func(Upgrade) bool
}

// Interruption is what a step and its undo do to the API server of their host, directly or through
// etcd.
type Interruption string

// The kinds of interruptions.
const (
	InterruptsNothing Interruption = "" // the API server, etcd and their address stay as they are
	// The step can restart them, as a container runtime or a kubelet of another version does, or
	// what moves their address.
	MayInterruptAPI Interruption = "possible"
	InterruptsAPI   Interruption = "certain" // the step restarts the API server or its etcd member
)

// Undo is how a rollback undoes a step.
type Undo string

// The kinds of undo.
const (
	UndoNothing Undo = "none"     // the step changed nothing that matters
	UndoRestore Undo = "restored" // files that are still what the step wrote are restored
	// Forward-only state: undone only if the step did not succeed.
	UndoIfUnhealthy Undo = "restored if it failed"
	// Objects in the cluster: restored last, and only while no other node relies on them.
	UndoCluster Undo = "restored in the API"
)

// all lists every step in order. The steps of a host are a subset.
var all = []Step{
	{
		Name: StepFetch, Prefetch: true, Limit: time.Hour, Undo: UndoNothing,
		Description: "fetch the files of the ClusterRelease and verify their digests, platforms and versions",
	},
	{
		Name: StepImages, Prefetch: true, Limit: 30 * time.Minute, Undo: UndoNothing,
		Description: "import the images of the ClusterRelease into the container runtime and verify them",
	},

	{
		Name: StepCheck, Limit: 5 * time.Minute, Undo: UndoNothing,
		Description: "check the host: disk space, certificates, images, changes by others, settings that the new kubelet or the cluster rejects",
	},
	{
		Name: StepReserve, Limit: time.Minute, Undo: UndoNothing,
		Description: "reserve disk space, so that a full disk cannot block a rollback",
	},
	{
		Name: StepSave, Limit: 5 * time.Minute, Undo: UndoNothing,
		Description: "save the static pod manifests; prepare the rollback of packages",
	},
	{
		Name: StepStage, Limit: 5 * time.Minute, Undo: UndoNothing,
		Description: "stage the new files next to the old ones",
	},
	{
		Name: StepPreflight, Limit: 5 * time.Minute, Undo: UndoNothing,
		Description: "run the preflight checks of the target's kubeadm",
	},
	{
		Name: StepRender, Limit: 2 * time.Minute, Undo: UndoNothing, when: controlPlane,
		Description: "render the static pod manifests with the target's kubeadm",
	},
	{
		Name: StepCertificates, Limit: 2 * time.Minute, Undo: UndoIfUnhealthy, when: controlPlane,
		Description: "renew the certificates that kubeadm renews during an upgrade",
	},
	{
		Name: StepPods, API: MayInterruptAPI, Limit: 6 * time.Minute, Undo: UndoIfUnhealthy, when: controlPlane,
		Description: "restart other static pods that have read a kubeconfig before its renewal, such as kube-vip",
	},
	{
		Name: StepEtcd, Disrupts: true, API: InterruptsAPI, Limit: 10 * time.Minute, Undo: UndoIfUnhealthy, when: func(u Upgrade) bool { return u.Etcd },
		Description: "under a lock, with all other members healthy: stop the API server, replace etcd and verify it",
	},
	{
		Name: StepAPIServer, Disrupts: true, API: InterruptsAPI, Limit: 4 * time.Minute, Undo: UndoRestore, when: controlPlane,
		Description: "replace kube-apiserver and verify it on its own port",
	},
	{
		Name: StepControllers, Disrupts: true, Limit: 4 * time.Minute, Undo: UndoRestore, when: controlPlane,
		Description: "replace kube-controller-manager and kube-scheduler and verify them",
	},
	{
		Name: StepUploadConfig, Limit: 3 * time.Minute, Undo: UndoCluster, when: first,
		Description: "kubeadm: upload the new configuration to the cluster",
	},
	{
		Name: StepKubeconfig, Limit: 3 * time.Minute, Undo: UndoRestore, when: controlPlane,
		Description: "kubeadm: update the kubelet's kubeconfig",
	},
	{
		Name: StepKubeletConfig, Limit: 3 * time.Minute, Undo: UndoRestore,
		Description: "kubeadm: write the kubelet configuration",
	},
	{
		Name: StepBootstrapToken, Limit: 3 * time.Minute, Undo: UndoNothing, when: first,
		Description: "kubeadm: update the RBAC rules of bootstrap tokens",
	},
	{
		Name: StepContainerd, Disrupts: true, API: MayInterruptAPI, Limit: 10 * time.Minute, Undo: UndoIfUnhealthy, when: changes(refitv1alpha1.PartContainerd),
		Description: "validate the configuration of containerd, replace containerd, restart and verify it",
	},
	{
		Name: StepRunc, Limit: 5 * time.Minute, Undo: UndoRestore, when: changes(refitv1alpha1.PartRunc),
		Description: "replace runc",
	},
	{
		Name: StepCNI, Limit: 5 * time.Minute, Undo: UndoRestore, when: changes(refitv1alpha1.PartCNI),
		Description: "replace the CNI plugins",
	},
	{
		Name: StepKubelet, Disrupts: true, API: MayInterruptAPI, Limit: 4 * time.Minute, Undo: UndoRestore,
		Description: "replace kubelet, kubeadm and kubectl, restart the kubelet and verify it",
	},
	{
		Name: StepAddon, Limit: 5 * time.Minute, Undo: UndoCluster, when: upgradesAddons,
		Description: "kubeadm: upgrade the installed add-ons, once every control plane node is upgraded",
	},
	{
		Name: StepPostUpgrade, Limit: 3 * time.Minute, Undo: UndoNothing,
		Description: "kubeadm: run the post-upgrade tasks",
	},
	{
		Name: StepVerify, Limit: 4 * time.Minute, Undo: UndoNothing,
		Description: "verify that everything is at the target version and healthy",
	},
}

// The names of the steps.
const (
	StepFetch          = "fetch"
	StepImages         = "import-images"
	StepCheck          = "check-host"
	StepReserve        = "reserve-disk"
	StepSave           = "save-state"
	StepStage          = "stage-files"
	StepPreflight      = "kubeadm-preflight"
	StepRender         = "render-manifests"
	StepCertificates   = "renew-certificates"
	StepPods           = "restart-pods"
	StepEtcd           = "swap-etcd"
	StepAPIServer      = "swap-apiserver"
	StepControllers    = "swap-controllers"
	StepUploadConfig   = "upload-config"
	StepKubeconfig     = "kubeconfig"
	StepKubeletConfig  = "kubelet-config"
	StepBootstrapToken = "bootstrap-token"
	StepContainerd     = "swap-containerd"
	StepRunc           = "swap-runc"
	StepCNI            = "swap-cni"
	StepKubelet        = "swap-kubelet"
	StepAddon          = "addon"
	StepPostUpgrade    = "post-upgrade"
	StepVerify         = "verify-node"

	// StepVerifyOld follows the undo of all steps: the host must be as healthy as before.
	StepVerifyOld = "verify-old"
)

// UndoLimit is the timeout for the undo of a step, with the default settings of a host.
const UndoLimit = 5 * time.Minute

// StepOf returns a step by its name. StepVerifyOld is in no list of steps.
func StepOf(name string) (Step, bool) {
	at := slices.IndexFunc(all, func(s Step) bool { return s.Name == name })
	if at < 0 {
		return Step{}, false
	}
	return all[at], true
}

// Steps returns the steps of a host.
func Steps(u Upgrade) []Step {
	return slices.DeleteFunc(slices.Clone(all), func(s Step) bool { return s.when != nil && !s.when(u) })
}

func controlPlane(u Upgrade) bool { return u.Role != refitv1alpha1.RoleWorker }

func upgradesAddons(u Upgrade) bool { return controlPlane(u) && !u.KeepAddons }

func first(u Upgrade) bool { return u.Role == refitv1alpha1.RoleFirstControlPlane }

func changes(p refitv1alpha1.Part) func(Upgrade) bool {
	return func(u Upgrade) bool { return slices.Contains(u.Parts, p) }
}
