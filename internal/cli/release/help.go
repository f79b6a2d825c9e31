package release

// CreateHelp describes `refit release create`.
const CreateHelp = `Create the content of a ClusterRelease and write it to standard output as JSON, to be reviewed and
signed.

With --from, the command searches directories for binaries (kubeadm, kubelet, kubectl, containerd,
its shim, ctr, runc, CNI plugins), deb and rpm packages of the same, and archives of the images that
kubeadm requires (as written by docker save or ctr images export), for every platform. It runs each
binary to determine its version. Files of other versions are skipped and counted. Copy the
directories to the hosts or serve them unchanged: hosts find each file by its relative path.

With --online, the command takes the addresses and digests of everything that the directories lack
from upstream, if upstream has signed it: deb and rpm packages from pkgs.k8s.io, binaries from
dl.k8s.io and images from registry.k8s.io; with --containerd, --runc and --cni-plugins also these,
without a signature: compare their digests and accept them with --accept-digest. It downloads
metadata, signatures and archives. Hosts must reach these addresses or a mirror of them.
--for-cluster selects the files for the hosts of a cluster; --kind and --arch do so without one.

With --cluster-configuration, the ClusterRelease sets arguments of the control plane and feature
gates of kubeadm. An upgrade merges them into the configuration of the cluster; manual changes stay.

With --components, the command packs and renders the Helm charts of a file, and adds their images.
The command fails if its result cannot upgrade a kubeadm host, and lists what is missing.`

// AddHelp describes `refit release add`.
const AddHelp = `Create a ClusterRelease, sign it and add it to a cluster: "release create", "release sign" and
"kubectl apply" in one command. It shows the content and prompts before it signs.

With --online, it selects the files for the hosts of the cluster, unless you select them with --kind
and --arch.

It signs with your own key unless you name another one with --key. The key must be pinned on the
hosts ("install" pins it); the command fails before it reads any file if it is not.

If the cluster has a ClusterRelease with the same content, the command changes nothing. A
ClusterRelease is immutable: another one for the same version needs another --name.`

// SignHelp describes `refit release sign`.
const SignHelp = `Sign the output of "release create" and write a ClusterRelease object to standard output, for
"kubectl apply --server-side", after the charts of its components. Review the file before you sign
it: hosts install its content and nothing else. Without --key, your own key signs it. The command
prompts for the key's passphrase.

A ClusterRelease in a cluster is immutable. Another one for the same version needs another --name.`

// VerifyHelp describes `refit release verify`.
const VerifyHelp = `Verify a ClusterRelease as a host does: it is valid, and signed by a key that you trust, and so are
its components and their charts. With --from, the command also reads every file of the
ClusterRelease from a source and compares it with its signed digest. A source is a directory, a web
server (https://..., http://...) or an OCI layout (oci:/path), as on hosts. Exits with 1 if a file
is missing or differs.`

// ListHelp describes `refit release list`.
const ListHelp = `List the ClusterReleases of a cluster: the version of Kubernetes, the age, the components, who uses
it, and the key that signed it. Users are operations in progress, and hosts that have verified it.

The command does not verify signatures: hosts do so before they fetch anything, and "release verify"
does so for a file.`
