package keeping

// Help describes `refit keep`.
const Help = `Keep the security settings that were added manually to the static pod manifests of a control plane
node (audit, authentication, authorization, admission, encryption, TLS), and that an upgrade would
remove. The command adds the flags and mounts to the kubeadm configuration of the cluster (extraArgs
and extraVolumes in the ConfigMap kube-system/kubeadm-config), shows the change as a diff, and
prompts for confirmation. It acts with your own permissions and does not change running pods.

Settings that differ between control plane nodes are not kept: the command exits with 1 and prints a
kubeadm patch for the host.`
