// Package keeping is `refit keep`: it shows which settings of a node become a part of kubeadm's
// configuration, prompts for confirmation, writes the change and verifies it.
package keeping
