package steps

import (
	"context"

	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Action is what a step does. Do and Undo can be repeated from any point at which they were cut off.
type Action struct {
	// Probe says whether the step's effect is there, whole. Without one a step is simply done again.
	Probe func(context.Context, *Host) (bool, error)
	Do    func(context.Context, *Host) error
	Undo  func(context.Context, *Host) error
}

// Actions has every step of package node; a test holds the two together.
var Actions = map[string]Action{
	node.StepFetch:  {Do: fetch},
	node.StepImages: {Do: importImages, Probe: imagesPresent},

	node.StepCheck:     {Do: checkHost},
	node.StepReserve:   {Do: reserve},
	node.StepSave:      {Do: save},
	node.StepStage:     {Do: stage},
	node.StepPreflight: {Do: phase("preflight")},
	node.StepRender:    {Do: render},

	node.StepCertificates: {Do: renewCertificates, Undo: repairCertificates},
	node.StepEtcd:         {Do: swapEtcd, Probe: etcdProven, Undo: unswapEtcd},
	node.StepAPIServer:    {Do: swapAPIServer, Undo: unswapAPIServer},
	node.StepControllers:  {Do: swapControllers, Undo: unswapControllers},

	node.StepUploadConfig:   {Do: clusterPhase(kubeadm.PhaseUploadConfig), Undo: restoreObjects(kubeadm.PhaseUploadConfig)},
	node.StepKubeconfig:     {Do: phase("kubeconfig"), Undo: restoreKubeconfig},
	node.StepKubeletConfig:  {Do: phase("kubelet-config"), Undo: restoreKubeletConfig},
	node.StepBootstrapToken: {Do: phase("bootstrap-token")},

	node.StepContainerd: {Do: swapContainerd, Undo: unswapContainerd},
	node.StepRunc:       {Do: swapRunc, Undo: unswapRunc},
	node.StepCNI:        {Do: swapCNI, Undo: unswapCNI},
	node.StepKubelet:    {Do: swapKubelet, Undo: unswapKubelet},

	node.StepAddon:       {Do: upgradeAddons, Undo: restoreObjects(kubeadm.PhaseAddon)},
	node.StepPostUpgrade: {Do: phase("post-upgrade")},
	node.StepVerify:      {Do: verify},

	node.StepVerifyOld: {Undo: proveOld},
}
