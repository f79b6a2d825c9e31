package text

import (
	"fmt"
	"strings"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// KeepPreview renders what `refit keep` is about to change, and what it cannot keep.
func KeepPreview(k *cliv1alpha1.Keep, p Page) string {
	w := newWriter(p)
	w.para(0, as(bold, fmt.Sprintf("Security settings of %s that kubeadm does not render", k.Node)))
	w.blank()
	for _, setting := range k.Kept {
		w.para(2, as(plain, setting))
	}
	for i := range k.NotKept {
		for _, setting := range k.NotKept[i].Settings {
			w.para(2, as(plain, setting), as(yellow, "(not kept)"))
		}
	}
	if k.Diff != "" {
		w.section("Change")
		w.blank()
		w.diff(k.Diff)
	}
	for i := range k.NotKept {
		w.notKept(&k.NotKept[i], k.Node)
	}
	w.blank()
	return w.String()
}

// diff writes a diff as it is, so that it can be copied.
func (w *writer) diff(text string) {
	for line := range strings.Lines(text) {
		style := plain
		switch {
		case strings.HasPrefix(line, "---"), strings.HasPrefix(line, "+++"):
			style = bold
		case strings.HasPrefix(line, "+"):
			style = green
		case strings.HasPrefix(line, "-"):
			style = red
		}
		w.paint(as(style, Clean(strings.TrimSuffix(line, "\n"))))
		w.blank()
	}
}

func (w *writer) notKept(n *cliv1alpha1.NotKept, node string) {
	w.section("Not kept: " + n.Component)
	for _, reason := range n.Reasons {
		w.para(2, as(plain, reason))
	}
	w.blank()
	const same = "Use the same files and flags on every control plane node and run the command again"
	if n.Patch == nil {
		w.para(2, as(plain, same+", or move the settings to a kubeadm patch manually."))
		return
	}
	w.para(2, as(plain, fmt.Sprintf("%s. To keep the settings on %s only, write this file on it, set kubeadm.patches in /etc/refit/agent.yaml to its "+
		"directory, and restart refit-agent:", same, node)))
	w.blank()
	w.command("/etc/kubernetes/patches/" + n.Patch.Name)
	w.blank()
	for line := range strings.Lines(n.Patch.Content) {
		w.out.WriteString("    " + Clean(strings.TrimSuffix(line, "\n")) + "\n")
	}
}

// Keep renders the result of `refit keep`.
func Keep(k *cliv1alpha1.Keep, p Page) string {
	w := newWriter(p)
	switch {
	case k.Changed:
		w.para(0, as(plain, fmt.Sprintf("Kept %s of %s in the kubeadm configuration of %s, which upgrades preserve. Running pods were not changed.",
			phrase.Count(len(k.Kept), "security setting"), k.Node, k.Cluster)))
	case len(k.NotKept) == 0:
		w.para(0, as(plain, fmt.Sprintf("There is nothing to keep: kubeadm renders all security settings of %s.", k.Node)))
	default:
		w.para(0, as(plain, "Nothing was changed."))
	}
	if len(k.Unverified) > 0 {
		w.section("Not verified")
		for _, u := range k.Unverified {
			w.blank()
			w.para(2, as(plain, Clean(u.Reason)))
			w.para(4, as(plain, Clean(u.Remedy)+"."))
		}
	}
	return w.String()
}
