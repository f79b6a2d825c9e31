package text

import (
	"fmt"
	"strings"
	"text/tabwriter"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
	"github.com/refit-dev/refit/internal/upgrade/signedconfig"
)

// Release renders the content of a ClusterRelease.
func Release(r *cliv1alpha1.ReleaseContent) string {
	var b strings.Builder
	head := "ClusterRelease of Kubernetes " + r.Content.Kubernetes
	if r.Name != "" {
		head = fmt.Sprintf("ClusterRelease %s of Kubernetes %s", r.Name, r.Content.Kubernetes)
	}
	fmt.Fprintln(&b, Clean(head))
	if with := otherVersions(r.Content); with != "" {
		fmt.Fprintln(&b, Clean("With "+with))
	}
	fmt.Fprintln(&b)
	if r.Digest != "" {
		fmt.Fprintf(&b, "Digest   %s\n", Clean(r.Digest))
	}
	fmt.Fprintf(&b, "Signed   %s\n", Clean(trust(r)))
	writeFiles(&b, r.Content.Files)
	writeImages(&b, r.Content.Images)
	writeConfiguration(&b, r.Content.ClusterConfiguration)
	writeComponents(&b, r.Components)
	for i := range r.Components {
		writeComponent(&b, &r.Components[i])
	}
	writeForm(&b, r.Form)
	writeTotals(&b, r.Content)
	writeCompared(&b, r.Compared)
	return b.String()
}

func trust(r *cliv1alpha1.ReleaseContent) string {
	switch r.Trust {
	case cliv1alpha1.TrustVerified:
		return "by " + r.KeyID + " (trusted)"
	case cliv1alpha1.TrustUnverified:
		return "by " + r.KeyID + " (not verified)"
	}
	return "no"
}

// otherVersions lists the versions in a ClusterRelease besides that of Kubernetes.
func otherVersions(p refitv1alpha1.ReleasePayload) string {
	var out []string
	for _, v := range []struct{ name, version string }{
		{"etcd", p.Etcd}, {"CoreDNS", p.CoreDNS}, {"pause", p.Pause}, {"containerd", p.Containerd}, {"runc", p.Runc}, {"CNI plugins", p.CNIPlugins},
	} {
		if v.version != "" {
			out = append(out, v.name+" "+v.version)
		}
	}
	return phrase.List(out)
}

func writeFiles(b *strings.Builder, files []refitv1alpha1.ReleaseFile) {
	if len(files) == 0 {
		return
	}
	fmt.Fprintf(b, "\nFiles\n")
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, f := range files {
		fmt.Fprintf(w, "  %s/%s\t%s\t%s\t%s\t%s\t%s\n",
			Clean(f.OS), Clean(f.Arch), Clean(string(f.Kind)), Clean(string(f.Part)), Clean(f.Name), Clean(f.Version), size(f.Size))
	}
	w.Flush()
}

func writeImages(b *strings.Builder, images []refitv1alpha1.ReleaseImage) {
	if len(images) == 0 {
		return
	}
	fmt.Fprintf(b, "\nImages\n")
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, i := range images {
		where, how := "all nodes", "pulled by hosts"
		if i.ControlPlane {
			where = "control plane"
		}
		if i.Archive != nil {
			how = size(i.Archive.Size)
		}
		fmt.Fprintf(w, "  %s/%s\t%s\t%s\t%s\n", Clean(i.OS), Clean(i.Arch), Clean(i.Name), where, how)
	}
	w.Flush()
}

func writeConfiguration(b *strings.Builder, patch *refitv1alpha1.ClusterConfigurationPatch) {
	fields := signedconfig.Of(patch).Texts()
	if len(fields) == 0 {
		return
	}
	fmt.Fprintf(b, "\nkubeadm configuration\n")
	for _, field := range fields {
		fmt.Fprintf(b, "  %s\n", Clean(field))
	}
}

func writeComponents(b *strings.Builder, components []refitv1alpha1.ReleaseComponent) {
	if len(components) == 0 {
		return
	}
	fmt.Fprintf(b, "\nComponents\n")
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, c := range components {
		var details []string
		switch c.Place {
		case refitv1alpha1.PlaceBefore:
			details = append(details, "before the control plane")
		case refitv1alpha1.PlaceAfter:
			details = append(details, "after the control plane")
		case refitv1alpha1.PlaceAuto:
		}
		if len(c.Needs) > 0 {
			details = append(details, "needs "+strings.Join(c.Needs, ", "))
		}
		if len(c.Recipe) > 0 {
			details = append(details, "recipe of "+phrase.Count(len(c.Recipe), "step"))
		}
		line := []string{"  " + c.Name, c.Version, c.Release.Namespace + "/" + c.Release.Name, size(c.Chart.Size)}
		if len(details) > 0 {
			line = append(line, strings.Join(details, "; "))
		}
		for i := range line {
			line[i] = Clean(line[i])
		}
		fmt.Fprintln(w, strings.Join(line, "\t"))
	}
	w.Flush()
}

func writeTotals(b *strings.Builder, p refitv1alpha1.ReleasePayload) {
	var bytes int64
	seen := map[string]bool{}
	add := func(blob refitv1alpha1.Blob) {
		if !seen[blob.Digest] {
			bytes += blob.Size
		}
		seen[blob.Digest] = true
	}
	for _, f := range p.Files {
		if f.Archive != nil {
			add(f.Archive.Blob) // hosts download this
			continue
		}
		add(f.Blob)
	}
	for _, i := range p.Images {
		if i.Archive != nil {
			add(*i.Archive)
		}
	}
	fmt.Fprintf(b, "\n%s, %s, %s in total\n", phrase.Count(len(p.Files), "file"), phrase.Count(len(p.Images), "image"), size(bytes))
}

func writeCompared(b *strings.Builder, c *cliv1alpha1.Compared) {
	if c == nil {
		return
	}
	if len(c.Wrong) == 0 {
		fmt.Fprintf(b, "%s compared, all match the signed digests\n", phrase.Count(c.Files, "file"))
		return
	}
	fmt.Fprintf(b, "\nMismatches\n")
	for _, w := range c.Wrong {
		name := w.Path
		if name == "" {
			name = w.Digest
		}
		fmt.Fprintf(b, "  %s: %s\n", Clean(name), Clean(w.Why))
	}
}

// size formats a number of bytes.
func size(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 10<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d KiB", max(1, n>>10))
}
