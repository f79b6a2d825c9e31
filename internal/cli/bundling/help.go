package bundling

// Help describes `refit support-bundle`.
const Help = `Collect what is needed to find the cause of a failed upgrade into a compressed tar archive: Refit's
objects and their Events, the logs of its controllers, and the journals of the kubelet, containerd
and the agent of the most important hosts. Without a name, the bundle is about the active upgrade,
or the last one if all have ended.

Secrets are redacted before they are written: private keys, tokens, passwords, the data of Secrets,
and what --redact matches. Check the content before you share it.

The command acts with your own permissions. To read a host, it creates a Pod there that mounts the
journals read-only, and deletes it at the end. A host that is down, or that you may not read, is
listed as missing with its remedy, and the rest is collected. If the API server is unreachable, the
command reads this machine, if it is a host of the cluster.

Everything is bounded: --timeout, --max-size and --max-hosts end the collection, and the bundle
lists what did not fit.`
