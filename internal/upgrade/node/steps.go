package node

import (
	"slices"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Step is one action on a host. The list of a host is data; what each name does is in the agent.
type Step struct {
	Name string
	// What tells a person what it does.
	What string
	// Prefetch steps disturb nothing and are carried out with the permit Prefetch.
	Prefetch bool
	// Disrupts says that the step takes something away that runs. From the first of them on, a failure puts the host back.
	Disrupts bool
	// Undo is what becomes of the step when the host is put back.
	Undo Undo
	// Limit is how long the step may take before it counts as failed.
	Limit time.Duration

	// When says on which hosts the step is; nil: on every one.
	when func(Work) bool
}

// Undo is what becomes of a step when the host is put back.
type Undo string

// The kinds of undoing.
const (
	UndoNothing Undo = "nothing"    // it changed nothing that matters
	UndoRestore Undo = "restore"    // files that still are what it wrote are restored
	UndoUnwell  Undo = "if unwell"  // forward-only state: it is undone only if the step did not end well
	UndoCluster Undo = "in the API" // objects in the cluster, restored last, and only while no other node relies on them
)

// all is every step that there is, in order. A host's list is a part of it.
var all = []Step{
	{
		Name: StepFetch, Prefetch: true, Limit: time.Hour, Undo: UndoNothing,
		What: "fetch the ClusterRelease's files, check their digests, platforms and versions",
	},
	{
		Name: StepImages, Prefetch: true, Limit: 30 * time.Minute, Undo: UndoNothing,
		What: "bring the ClusterRelease's images into the container runtime and see that they are there",
	},

	{
		Name: StepCheck, Limit: 5 * time.Minute, Undo: UndoNothing,
		What: "check the host: room, certificates, images, changes by others, what the new kubelet or the cluster refuses",
	},
	{
		Name: StepReserve, Limit: time.Minute, Undo: UndoNothing,
		What: "set room on the disk aside, so that a full disk cannot stop the way back",
	},
	{
		Name: StepSave, Limit: 5 * time.Minute, Undo: UndoNothing,
		What: "save the static pod manifests; prepare the rollback of packages",
	},
	{
		Name: StepStage, Limit: 5 * time.Minute, Undo: UndoNothing,
		What: "put the new files beside the old ones",
	},
	{
		Name: StepPreflight, Limit: 5 * time.Minute, Undo: UndoNothing,
		What: "run the preflight checks of the target's kubeadm",
	},
	{
		Name: StepRender, Limit: 2 * time.Minute, Undo: UndoNothing, when: controlPlane,
		What: "let the target's kubeadm render the static pod manifests",
	},
	{
		Name: StepCertificates, Limit: 2 * time.Minute, Undo: UndoUnwell, when: controlPlane,
		What: "renew the certificates that an upgrade renews",
	},
	{
		Name: StepEtcd, Disrupts: true, Limit: 10 * time.Minute, Undo: UndoUnwell, when: func(w Work) bool { return w.Etcd },
		What: "under a lock, with every other member healthy: take the API server away, swap etcd alone and prove it",
	},
	{
		Name: StepAPIServer, Disrupts: true, Limit: 4 * time.Minute, Undo: UndoRestore, when: controlPlane,
		What: "swap kube-apiserver and prove it on its own port",
	},
	{
		Name: StepControllers, Disrupts: true, Limit: 4 * time.Minute, Undo: UndoRestore, when: controlPlane,
		What: "swap kube-controller-manager and kube-scheduler and prove them",
	},
	{
		Name: StepUploadConfig, Limit: 3 * time.Minute, Undo: UndoCluster, when: first,
		What: "kubeadm: write the new configuration into the cluster",
	},
	{
		Name: StepKubeconfig, Limit: 3 * time.Minute, Undo: UndoRestore, when: controlPlane,
		What: "kubeadm: bring the kubelet's kubeconfig up to date",
	},
	{
		Name: StepKubeletConfig, Limit: 3 * time.Minute, Undo: UndoRestore,
		What: "kubeadm: write the kubelet's configuration",
	},
	{
		Name: StepBootstrapToken, Limit: 3 * time.Minute, Undo: UndoNothing, when: first,
		What: "kubeadm: bring the rules of bootstrap tokens up to date",
	},
	{
		Name: StepContainerd, Disrupts: true, Limit: 10 * time.Minute, Undo: UndoUnwell, when: changes(refitv1alpha1.PartContainerd),
		What: "see that its configuration fits, swap containerd, restart and prove it",
	},
	{
		Name: StepRunc, Limit: 5 * time.Minute, Undo: UndoRestore, when: changes(refitv1alpha1.PartRunc),
		What: "swap runc",
	},
	{
		Name: StepCNI, Limit: 5 * time.Minute, Undo: UndoRestore, when: changes(refitv1alpha1.PartCNI),
		What: "swap the CNI plugins",
	},
	{
		Name: StepKubelet, Disrupts: true, Limit: 4 * time.Minute, Undo: UndoRestore,
		What: "swap kubelet, kubeadm and kubectl, restart the kubelet and prove it",
	},
	{
		Name: StepAddon, Limit: 5 * time.Minute, Undo: UndoCluster, when: bringsAddons,
		What: "kubeadm: upgrade the add-ons that are there, once every control plane node is new",
	},
	{
		Name: StepPostUpgrade, Limit: 3 * time.Minute, Undo: UndoNothing,
		What: "kubeadm: what follows an upgrade",
	},
	{
		Name: StepVerify, Limit: 4 * time.Minute, Undo: UndoNothing,
		What: "see everything at the target and well",
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

	// ProveOld is what follows the undoing of all steps: the host must be well as it was.
	ProveOld = "verify-old"
)

// Steps is the list of a host.
func Steps(w Work) []Step {
	return slices.DeleteFunc(slices.Clone(all), func(s Step) bool { return s.when != nil && !s.when(w) })
}

func controlPlane(w Work) bool { return w.Role != refitv1alpha1.RoleWorker }

func bringsAddons(w Work) bool { return controlPlane(w) && !w.KeepAddons }

func first(w Work) bool { return w.Role == refitv1alpha1.RoleFirstControlPlane }

func changes(p refitv1alpha1.Part) func(Work) bool {
	return func(w Work) bool { return slices.Contains(w.Parts, p) }
}
