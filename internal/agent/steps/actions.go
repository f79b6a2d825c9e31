package steps

import (
	"context"

	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Action implements a step. Do and Undo are idempotent: the agent repeats them after an
// interruption at any point.
type Action struct {
	// Await waits until the step may start, for others that use the same resource. Its time does
	// not count against the limit of the step, it changes nothing, and it never leads to a
	// rollback. AwaitUndo is the same for the undo.
	Await, AwaitUndo func(context.Context, *Host) error
	// Probe reports whether the step has taken full effect. A step without a probe is repeated.
	Probe func(context.Context, *Host) (bool, error)
	Do    func(context.Context, *Host) error
	Undo  func(context.Context, *Host) error
}

// restartsEtcd is the wait before a step that installs packages and may restart static pods.
var restartsEtcd = inOrder(lockPackages, secureMember)

// Actions has one entry for each step of package node.
var Actions = map[string]Action{
	node.StepFetch:  {Do: fetch},
	node.StepImages: {Do: importImages, Probe: imagesPresent},

	node.StepCheck:     {Do: checkHost},
	node.StepReserve:   {Do: reserve},
	node.StepSave:      {Await: lockPackages, Do: save},
	node.StepStage:     {Await: lockPackages, Do: stage},
	node.StepPreflight: {Do: phase("preflight")},
	node.StepRender:    {Do: render},

	node.StepCertificates: {Do: renewCertificates, Undo: repairCertificates},
	node.StepPods:         {Do: restartReaders, Probe: readersCurrent, Undo: finishReaders},
	node.StepEtcd:         {Await: lockPackages, Do: swapEtcd, Probe: etcdProven, AwaitUndo: secureUndoneMember, Undo: undoEtcd},
	node.StepAPIServer:    {Await: lockPackages, Do: swapAPIServer, Undo: undoAPIServer},
	node.StepControllers:  {Await: lockPackages, Do: swapControllers, Undo: undoControllers},

	node.StepUploadConfig:   {Do: uploadConfig, Undo: restoreObjects(kubeadm.PhaseUploadConfig)},
	node.StepKubeconfig:     {Do: phase("kubeconfig"), Undo: restoreKubeconfig},
	node.StepKubeletConfig:  {Do: phase("kubelet-config"), Undo: restoreKubeletConfig},
	node.StepBootstrapToken: {Do: phase("bootstrap-token")},

	node.StepContainerd: {Await: restartsEtcd, Do: swapContainerd, AwaitUndo: restartsEtcd, Undo: undoContainerd},
	node.StepRunc:       {Await: lockPackages, Do: swapRunc, AwaitUndo: lockPackages, Undo: undoRunc},
	node.StepCNI:        {Await: lockPackages, Do: swapCNI, AwaitUndo: lockPackages, Undo: undoCNI},
	node.StepKubelet:    {Await: restartsEtcd, Do: swapKubelet, AwaitUndo: restartsEtcd, Undo: undoKubelet},

	node.StepAddon:       {Do: upgradeAddons, Undo: restoreObjects(kubeadm.PhaseAddon)},
	node.StepPostUpgrade: {Do: phase("post-upgrade")},
	node.StepVerify:      {Do: verify},

	node.StepVerifyOld: {Undo: verifyRollback},
}
