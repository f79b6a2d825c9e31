package backup

// The steps of a backup, in order.
const (
	stepCheck     = "check"
	stepFetchHops = "fetch-hops"
	stepSnapshot  = "snapshot"
	stepHostFiles = "host-files"
	stepManifest  = "manifest"
	stepDrill     = "drill"
	stepRehearse  = "rehearse"
	stepPrune     = "prune"
)

// Step is a step, and what it does.
type Step struct{ Name, Does string }

// Steps lists the steps of a backup, in order. A step that fails ends the attempt.
var Steps = []Step{
	{stepCheck, "reads the BackupStore, and checks its pins, etcd and disk space"},
	{stepFetchHops, "fetches kubeadm and images of each hop to rehearse, and renders its manifests"},
	{stepSnapshot, "streams etcd's snapshot to the disk and, encrypted, to the store; reads it back"},
	{stepHostFiles, "stores certificates, manifests and configuration of the host, encrypted; reads them back"},
	{stepManifest, "stores the manifest and reads it back: from here on the backup counts"},
	{stepDrill, "decrypts the stored backup, restores it into a scratch etcd and compares it"},
	{stepRehearse, "runs etcd and kube-apiserver of each hop on the restored data"},
	{stepPrune, "deletes backups that the BackupStore does not keep"},
}
