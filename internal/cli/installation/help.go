package installation

// InstallHelp describes `refit install`.
const InstallHelp = `Install Refit in a cluster: CRDs, RBAC, admission policies, the controller, and a DaemonSet that
installs the agent on every node, including nodes that join later. The agent is a service of the
host; the pod that installs it is privileged until it has done so, and idles afterwards. The public
keys are pinned on the hosts: a host installs nothing that is not signed by one of them. It verifies
the signed digest of each file, so a source needs no TLS: in an isolated network, http:// is safe.

Run the command again to upgrade Refit or to change its settings: objects that are up to date stay
as they are, and objects that are no longer part of Refit are removed. Keys, sources, the image
repository, its Secrets, tolerations, the collector of traces and refit-components stay unless you
set them. The command waits until the agents are installed and reports the progress of each node. It
refuses to run during an upgrade.

Without --release-key and without a key that is pinned already, the command pins your own key, and
creates it if you have none ("release key create"). With --trust, it pins the key of a publisher of
ClusterReleases, whose fingerprint you pass: it must come from another place than the registry.

For backups of etcd, the command creates the BackupStore "local", a directory on control plane
hosts, and an age identity on this machine, once. The identity never enters the cluster: store it in
a safe place.

With --components, the command installs refit-components, which installs, upgrades and removes the
components of ClusterReleases: Helm charts. A chart may contain objects of any kind, so its
ServiceAccount has all permissions in the cluster, like cluster-admin. It runs on control plane
nodes, installs only what a pinned key has signed, and takes orders only from an approved upgrade.

With --standalone, the controller is not installed: the upgrade command runs it. With --render, the
command prints manifests for "kubectl apply --server-side" and does not access a cluster.

Exits with 4 if a ready node has no agent when the timeout expires.`

// UninstallHelp describes `refit uninstall`.
const UninstallHelp = `Remove Refit from a cluster: its agents and their files from every reachable host, then its objects,
including all upgrades, reports and ClusterReleases. Nodes that Refit cordoned are uncordoned.
Upgraded software stays as it is, and so do the Helm releases of components. The namespace
refit-components is deleted with the Secrets that you created in it. The command acts with your own
permissions.

Without --yes, the command only shows what it would do. It refuses to run during an upgrade or while
a host is being changed. Objects without Refit's label are kept and listed. Run the command again to
continue an interrupted removal.

Exits with 1 if a host is unreachable: its agent remains.`
