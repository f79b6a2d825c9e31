package text

import (
	"fmt"
	"strings"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
	"github.com/refit-dev/refit/internal/upgrade/signedconfig"
)

// MadeRelease describes how a ClusterRelease was made.
type MadeRelease struct {
	Payload    refitv1alpha1.ReleasePayload
	Components []refitv1alpha1.ReleaseComponent
	Skipped    []SkippedFiles
	Warnings   []string
}

// SkippedFiles are files that were skipped for the same reason.
type SkippedFiles struct {
	Why   string
	Count int
	First string // one of them
}

// ReleaseMade renders how a ClusterRelease was made, and the skipped files.
func ReleaseMade(r *MadeRelease) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Kubernetes %s: %s, %s",
		Clean(r.Payload.Kubernetes), phrase.Count(len(r.Payload.Files), "file"), phrase.Count(len(r.Payload.Images), "image"))
	if with := otherVersions(r.Payload); with != "" {
		fmt.Fprintf(&b, "; with %s", Clean(with))
	}
	fmt.Fprintln(&b)
	if len(r.Components) > 0 {
		var names []string
		for _, c := range r.Components {
			names = append(names, c.Name+" "+c.Version)
		}
		fmt.Fprintf(&b, "Components: %s\n", Clean(phrase.List(names)))
	}
	if fields := signedconfig.Of(r.Payload.ClusterConfiguration).Texts(); len(fields) > 0 {
		fmt.Fprintf(&b, "kubeadm configuration: %s\n", Clean(phrase.List(fields)))
	}
	b.WriteString(ReleaseSkipped(r))
	return b.String()
}

// ReleaseSkipped renders the skipped files and the warnings. They also explain why a ClusterRelease
// could not be made.
func ReleaseSkipped(r *MadeRelease) string {
	var b strings.Builder
	for _, s := range r.Skipped {
		such := ""
		if s.Count > 1 {
			such = "such as "
		}
		fmt.Fprintf(&b, "Skipped %s: %s (%s%s)\n", phrase.Count(s.Count, "file"), Clean(s.Why), such, Clean(s.First))
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(&b, "Warning: %s\n", Clean(warning))
	}
	return b.String()
}

// ReleaseKey renders the files of a new key, and the next commands.
func ReleaseKey(k *cliv1alpha1.ReleaseKey, command string) string {
	var b strings.Builder
	protection := "it has no passphrase"
	switch {
	case k.Keyring:
		protection = "its passphrase is in your keyring; a copy of the file needs both"
	case k.Encrypted:
		protection = "it has a passphrase"
	}
	fmt.Fprintf(&b, "Private key  %s (%s; keep it off the clusters: it determines what hosts install)\n", Clean(k.PrivateKey), protection)
	fmt.Fprintf(&b, "Public key   %s\n", Clean(k.PublicKey))
	fmt.Fprintf(&b, "Fingerprint  %s\n", k.KeyID)
	fmt.Fprintf(&b, "\nNext steps\n")
	fmt.Fprintf(&b, "  Pin it on every host: %s install --release-key %s --source SOURCE\n", command, Quote(k.PublicKey))
	fmt.Fprintf(&b, "  Sign with it: %s release sign FILE --key %s\n", command, Quote(k.PrivateKey))
	return b.String()
}

// AddedReleaseLine renders a ClusterRelease that was added to a cluster in one line.
func AddedReleaseLine(r *cliv1alpha1.AddedRelease) string {
	if r.Existed {
		return fmt.Sprintf("%s has ClusterRelease %s with the same content already: nothing was changed.", Clean(r.Cluster), r.Name)
	}
	return fmt.Sprintf("Added ClusterRelease %s to %s, signed with the key %s.", r.Name, Clean(r.Cluster), r.KeyID)
}

// AddedRelease renders a ClusterRelease that was added to a cluster, and the next commands.
func AddedRelease(r *cliv1alpha1.AddedRelease, command string) string {
	var b strings.Builder
	fmt.Fprintln(&b, AddedReleaseLine(r))
	if !r.Existed {
		fmt.Fprintln(&b, "Hosts install only what it lists by digest, because they accept this key.")
	}
	target := "--to " + r.Kubernetes
	if r.Name != "kubernetes-"+r.Kubernetes { // the cluster may have another one of this version
		target = "--release " + Quote(r.Name)
	}
	fmt.Fprintf(&b, "\nNext steps\n")
	fmt.Fprintf(&b, "  Show the plan: %s plan %s\n", command, target)
	fmt.Fprintf(&b, "  Upgrade: %s upgrade %s\n", command, target)
	return b.String()
}
