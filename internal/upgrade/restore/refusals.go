package restore

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
)

// Refusal is why a restore must not start. Nothing has changed then.
type Refusal struct {
	Reason   string // one CamelCase word
	Message  string
	Remedy   string
	Waivable bool
}

// The reasons of refusals that an operator can waive by name.
const (
	EtcdServes        = "EtcdServes"
	DigestUnknown     = "DigestUnknown"
	UpgradeInProgress = "UpgradeInProgress"
)

const otherClusterReason = "OtherCluster"

// spaceMargin is what must stay free beside the restored data: etcd allocates its log in advance.
const spaceMargin = 512 << 20

// check is one reason to refuse. Its problem is empty if there is none.
type check struct {
	reason     string
	situations []Situation
	waivable   bool
	remedy     string
	problem    func(Observation) string
}

var (
	always   = []Situation{Single, Replace, All}
	restores = []Situation{Single, All}
)

// checks lists every reason to refuse a restore.
var checks = []check{
	{
		otherClusterReason, always, false, "Use a backup of this cluster: `refit-agent restore --list` prints those that the host knows", otherCluster,
	},
	{
		EtcdServes, restores, true, "A restore discards everything after the backup. If you want that, add --waive " + EtcdServes, etcdServes,
	},
	{
		"LeftOutServes", restores, false, "Power its host off for good, then run the same command again. If it shall stay, do not leave it out", leftOutServes,
	},
	{
		DigestUnknown, restores, true,
		"Pass the digest that you recorded with --digest. Without one, a forged backup cannot be noticed: if you trust the store, add --waive " + DigestUnknown,
		digestUnknown,
	},
	{
		"EtcdVersion", restores, false,
		"Use a backup that the etcd of this host can read: of the same minor version or the one before. Refit never puts data onto an older minor version",
		etcdVersion,
	},
	{
		"MemberUnknown", always, false,
		"The name and the peer URL of the member in /etc/kubernetes/manifests/etcd.yaml must be those of the backup", memberUnknown,
	},
	{
		UpgradeInProgress, always, true,
		"Roll this host back first (`systemctl stop refit-agent; refit-agent undo --yes; systemctl start refit-agent`). " +
			"If that needs the lost data, add --waive " + UpgradeInProgress, openUpgrade,
	},
	{
		"SeparateWAL", always, false, "Restore by hand with `etcdutl snapshot restore`, or move all data into the data directory of etcd first", separateWAL,
	},
	{
		"ManifestReadOnly",
		[]Situation{Replace},
		false,
		"Make the directory writable. Or replace the symlink with the file: `cp --remove-destination \"$(readlink -f /etc/kubernetes/manifests/etcd.yaml)\" " +
			"/etc/kubernetes/manifests/etcd.yaml`. Then run the same command again", manifestReadOnly,
	},
	{
		"ClockBehind", restores, false, "Set the clock of the host on which the restore began, then begin again without --run", clockBehind,
	},
	{
		"DiskFull", restores, false, "Free disk space on the file system of etcd's data. The old data is kept beside the restored data", noSpace,
	},
}

// Waivable returns the reasons that an operator can waive.
func Waivable() (reasons []string) {
	for _, c := range checks {
		if c.waivable {
			reasons = append(reasons, c.reason)
		}
	}
	return reasons
}

// RefuseFiles returns why the files of a host must not be restored.
func RefuseFiles(o Observation) []Refusal {
	return refuse(o, func(c check) bool {
		return slices.Contains([]string{otherClusterReason, DigestUnknown, UpgradeInProgress}, c.reason)
	})
}

// refuse returns the problems that the checks which apply find, and that are not waived.
func refuse(o Observation, applies func(check) bool) (refusals []Refusal) {
	for _, c := range checks {
		if c.waivable && slices.Contains(o.Waived, c.reason) || !applies(c) {
			continue
		}
		if message := c.problem(o); message != "" {
			refusals = append(refusals, Refusal{Reason: c.reason, Message: message, Remedy: c.remedy, Waivable: c.waivable})
		}
	}
	return refusals
}

func otherCluster(o Observation) string {
	if len(o.Host.ClusterUIDs) > 0 && !slices.Contains(o.Host.ClusterUIDs, o.Backup.ClusterUID) {
		return fmt.Sprintf("the backup is of cluster %s, and this host recorded backups of cluster %s",
			o.Backup.ClusterUID, strings.Join(o.Host.ClusterUIDs, ", "))
	}
	known := len(o.Host.CAs) > 0 && len(o.Backup.CAs) > 0
	if known && !slices.ContainsFunc(o.Host.CAs, func(key string) bool { return slices.Contains(o.Backup.CAs, key) }) {
		return "the backup contains another cluster CA than this host has"
	}
	return ""
}

func etcdServes(o Observation) string {
	switch {
	case o.Etcd.Serves && o.Etcd.empty(o.Backup):
		return ""
	case o.Etcd.Serves && o.Etcd.APIServer:
		return "etcd and the API server on this host serve"
	case o.Etcd.Serves:
		return "etcd on this host serves"
	}
	return ""
}

// leftOutServes prevents that the cluster has two etcds, with an API server each.
func leftOutServes(o Observation) string {
	if len(o.Etcd.LeftOut) == 0 {
		return ""
	}
	return fmt.Sprintf("the restore leaves out %s, which serves etcd", strings.Join(o.Etcd.LeftOut, ", "))
}

// empty reports whether etcd has started without data because it was deleted: the API serves
// another cluster than that of the backup. Until the API server has created the namespaces of that
// cluster, only a revision below that of the backup shows it.
func (e Etcd) empty(b Backup) bool {
	if e.ClusterUID == "" {
		return e.Revision > 0 && e.Revision < b.Revision
	}
	return e.ClusterUID != b.ClusterUID
}

func digestUnknown(o Observation) string {
	if o.Backup.Recorded {
		return ""
	}
	return "the digest of the backup is recorded neither on this host nor on the command line"
}

func etcdVersion(o Observation) string {
	data, err := version.ParseGeneric(o.Backup.EtcdVersion)
	if err != nil {
		return fmt.Sprintf("the version of etcd in the backup is not valid: %v", err)
	}
	present, err := version.ParseGeneric(o.Host.EtcdVersion)
	if err != nil {
		return fmt.Sprintf("the version of etcd on this host is not valid: %v", err)
	}
	minors := int(present.Minor()) - int(data.Minor())
	switch {
	case present.Major() != data.Major() || minors < 0:
		return fmt.Sprintf("etcd %s on this host cannot read the data of etcd %s", o.Host.EtcdVersion, o.Backup.EtcdVersion)
	case minors > 1:
		return fmt.Sprintf("etcd %s on this host is more than one minor version above etcd %s of the backup", o.Host.EtcdVersion, o.Backup.EtcdVersion)
	}
	return ""
}

func memberUnknown(o Observation) string {
	for _, m := range o.Backup.Members {
		known := func(url string) bool { return slices.Contains(m.PeerURLs, url) }
		if m.Name == o.Host.Member && slices.ContainsFunc(strings.Split(o.Host.PeerURL, ","), known) {
			return ""
		}
	}
	var known []string
	for _, m := range o.Backup.Members {
		known = append(known, m.Name+"="+strings.Join(m.PeerURLs, ","))
	}
	return fmt.Sprintf("the member of this host, %s=%s, is not in the backup, which has %s", o.Host.Member, o.Host.PeerURL, strings.Join(known, " "))
}

func openUpgrade(o Observation) string {
	if o.Host.OpenUpgrade {
		return "an upgrade has changed this host and is unfinished"
	}
	return ""
}

func separateWAL(o Observation) string {
	if o.Host.SeparateWAL {
		return "etcd on this host keeps a part of its data in another directory, on another file system or behind a symlink"
	}
	return ""
}

// manifestReadOnly: a member that joins needs other flags, which are written through the symlink.
func manifestReadOnly(o Observation) string {
	if o.Host.ReadOnlyManifest == "" {
		return ""
	}
	return fmt.Sprintf("the manifest of etcd is a symlink to %s, whose directory cannot be written, and a replaced member needs other flags",
		o.Host.ReadOnlyManifest)
}

// clockBehind prevents that clients see lower revisions than before, and so miss changes.
func clockBehind(o Observation) string {
	if seen := max(o.Host.Revision, o.Backup.Revision); o.Run.Revision() <= seen {
		return fmt.Sprintf("the restored data would have revision %d, and revision %d is known: the clock is behind", o.Run.Revision(), seen)
	}
	return ""
}

func noSpace(o Observation) string {
	if needed := uint64(o.Backup.Size) + spaceMargin; o.Host.Free < needed {
		return fmt.Sprintf("the restored data needs %d MiB, and %d MiB are free", needed>>20, o.Host.Free>>20)
	}
	return ""
}
