package node

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Upgrade is the subject of a journal: one operation installs one ClusterRelease on one host. It is
// immutable.
type Upgrade struct {
	Operation refitv1alpha1.Operation  `json:"operation"`
	Release   refitv1alpha1.ReleaseRef `json:"release"`
	// Attempt is the first attempt of this journal. Later attempts continue in it, unless the host
	// was rolled back in between.
	Attempt   int64                     `json:"attempt"`
	NodeName  string                    `json:"nodeName"`
	NodeUID   types.UID                 `json:"nodeUID"`
	MachineID string                    `json:"machineID"`
	Role      refitv1alpha1.Role        `json:"role"`
	Packages  refitv1alpha1.PackageKind `json:"packages"`
	// From and To are the versions of Kubernetes.
	From string `json:"from"`
	To   string `json:"to"`
	// Etcd is set if an etcd member runs here as a static pod and is upgraded.
	Etcd bool `json:"etcd,omitempty"`
	// StopAPIServer is set if the API server is stopped while etcd is upgraded.
	StopAPIServer bool `json:"stopAPIServer,omitempty"`
	// KeepAddons is set if CoreDNS and kube-proxy are not upgraded.
	KeepAddons bool `json:"keepAddons,omitempty"`
	// ImagesOnly is set if the host runs the version already and fetches images of components only.
	ImagesOnly bool `json:"imagesOnly,omitempty"`
	// CA is the digest of the cluster's CA certificate: a host that joined another cluster must not
	// resume an upgrade of the former one.
	CA string `json:"ca,omitempty"`
	// CAs are the digests of the public keys in that file, of which the cluster keeps at least one
	// while it replaces its CA. Journals of older agents have none.
	CAs []string `json:"cas,omitempty"`
	// Parts are the parts of the ClusterRelease that differ from what is installed.
	Parts []refitv1alpha1.Part `json:"parts,omitempty"`
	// Kinds is how each of these parts is installed: Kubernetes may come from packages and
	// containerd as plain files, or the other way round.
	Kinds map[refitv1alpha1.Part]refitv1alpha1.PackageKind `json:"kinds,omitempty"`
	// PackageNames are the packages that these parts are installed from. Journals of older agents
	// have none.
	PackageNames map[refitv1alpha1.Part]string `json:"packageNames,omitempty"`
	// PartFiles are the binaries of these parts that the host had, if the upgrade replaces only
	// those: its CNI plugins. Journals of older agents have none.
	PartFiles map[refitv1alpha1.Part][]string `json:"partFiles,omitempty"`
}

// Part returns how a part is installed.
func (u *Upgrade) Part(part refitv1alpha1.Part) refitv1alpha1.PartFacts {
	return refitv1alpha1.PartFacts{Part: part, Kind: u.Kinds[part], Package: u.PackageNames[part], Files: u.PartFiles[part]}
}

// AddPart adds a part that the upgrade installs.
func (u *Upgrade) AddPart(part refitv1alpha1.PartFacts) {
	u.Parts = append(u.Parts, part.Part)
	if u.Kinds == nil {
		u.Kinds = map[refitv1alpha1.Part]refitv1alpha1.PackageKind{}
	}
	u.Kinds[part.Part] = part.Kind
	if len(part.Files) > 0 {
		if u.PartFiles == nil {
			u.PartFiles = map[refitv1alpha1.Part][]string{}
		}
		u.PartFiles[part.Part] = part.Files
	}
	if part.Package == "" {
		return
	}
	if u.PackageNames == nil {
		u.PackageNames = map[refitv1alpha1.Part]string{}
	}
	u.PackageNames[part.Part] = part.Package
}

// LimitTo removes what the former journal of the same upgrade does not have: CNI plugins, and parts
// other than kubeadm and the kubelet, that appeared or changed after the prefetch. They are left
// alone, since the host is drained and would wait for their download. A part that is now installed
// as another kind stays, as what was fetched would damage it. Another attempt is not limited: an
// operator may have installed what the last one lacked.
func (u *Upgrade) LimitTo(former *Upgrade) {
	if former.ImagesOnly || u.Attempt != former.Attempt || u.Operation.UID != former.Operation.UID || u.Release.Digest != former.Release.Digest ||
		u.NodeUID != former.NodeUID || u.MachineID != former.MachineID {
		return
	}
	surveyed := *u
	u.Parts, u.Kinds, u.PackageNames, u.PartFiles = nil, nil, nil, nil
	for _, name := range surveyed.Parts {
		part, was := surveyed.Part(name), former.Part(name)
		if !slices.Contains(former.Parts, name) && !Required(name) {
			continue
		}
		if part.Kind == was.Kind && len(part.Files) > 0 && len(was.Files) > 0 {
			part.Files = slices.DeleteFunc(slices.Clone(part.Files), func(file string) bool { return !slices.Contains(was.Files, file) })
			if len(part.Files) == 0 { // an empty list means all
				continue
			}
		}
		u.AddPart(part)
	}
}

// Kind is the kind of a record.
type Kind string

// The kinds of records. Those about a step are written before and after its effect.
const (
	Opened          Kind = "Opened"          // the first record of a journal
	Ordered         Kind = "Ordered"         // an order was accepted
	Started         Kind = "Started"         // a step is about to change something
	Done            Kind = "Done"            // the step is complete, and its probe confirmed it
	Failed          Kind = "Failed"          // the step or its undo failed
	RollbackStarted Kind = "RollbackStarted" // the host is rolled back from here on
	UndoStarted     Kind = "UndoStarted"     // a step is about to be undone
	Undone          Kind = "Undone"          // the step is undone, or there was nothing to undo
	// The change of the step is kept: it is forward-only and healthy.
	Kept     Kind = "Kept"
	Finished Kind = "Finished" // the upgrade is over
)

// Record is one entry of a journal.
type Record struct {
	At   time.Time `json:"at"`
	Kind Kind      `json:"kind"`
	Boot string    `json:"boot,omitempty"`

	Upgrade *Upgrade                `json:"upgrade,omitempty"` // Opened
	Order   *Order                  `json:"order,omitempty"`   // Ordered
	Step    string                  `json:"step,omitempty"`    // all kinds about a step
	Failure *Failure                `json:"failure,omitempty"` // Failed, RollbackStarted
	Outcome refitv1alpha1.NodePhase `json:"outcome,omitempty"` // Finished
	// Backup is the attempt that a journal of a backup is about (Opened), or its result (Finished).
	Backup *refitv1alpha1.NodeBackupStatus `json:"backup,omitempty"`
	// Left lists what the undo of a step left unchanged, each with the reason; for Undone and Kept.
	Left []string `json:"left,omitempty"`
}

// Order is the part of an order that matters during its execution.
type Order struct {
	Operation types.UID `json:"operation,omitempty"`
	// Manual is set if an operator gave the order on the host.
	Manual bool `json:"manual,omitempty"`

	Sequence int64                  `json:"sequence"`
	Epoch    int64                  `json:"epoch"`
	Attempt  int64                  `json:"attempt"`
	Permit   refitv1alpha1.Permit   `json:"permit"`
	Rollback refitv1alpha1.Rollback `json:"rollback"`
	// NotAfter is when the change has to have started, zero if that does not matter.
	NotAfter time.Time `json:"notAfter,omitzero"`
}
