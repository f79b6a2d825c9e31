package node

import (
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// usualPackage returns the package that a part is usually installed from.
func usualPackage(part refitv1alpha1.Part, kind refitv1alpha1.PackageKind) string {
	switch {
	case kind != refitv1alpha1.PackageDeb && kind != refitv1alpha1.PackageRpm:
		return ""
	case part == refitv1alpha1.PartCNI:
		return "kubernetes-cni"
	}
	return string(part)
}

// UnusualParts returns the parts that a report must list: those that are not installed like the
// kubelet and from the usual package, and those with a list of binaries. Most hosts have none,
// which keeps reports small.
func UnusualParts(installed []refitv1alpha1.PartFacts) []refitv1alpha1.PartFacts {
	kubelet, _ := installedPart(installed, refitv1alpha1.PartKubelet)
	var out []refitv1alpha1.PartFacts
	for _, part := range Parts() {
		facts, has := installedPart(installed, part)
		switch {
		case !has:
			out = append(out, refitv1alpha1.PartFacts{Part: part, Absent: true})
		case facts.Kind != kubelet.Kind || facts.Package != usualPackage(part, facts.Kind) || len(facts.Files) > 0:
			out = append(out, facts)
		}
	}
	return out
}

// ReportedParts returns the parts of a host from its report, and none if the report does not
// contain how the kubelet is installed.
func ReportedParts(r *refitv1alpha1.NodeReportStatus) []refitv1alpha1.PartFacts {
	if r.PackageKind == "" {
		return nil
	}
	var out []refitv1alpha1.PartFacts
	for _, part := range Parts() {
		if facts, unusual := installedPart(r.Parts, part); unusual {
			out = append(out, facts)
			continue
		}
		out = append(out, refitv1alpha1.PartFacts{Part: part, Kind: r.PackageKind, Package: usualPackage(part, r.PackageKind)})
	}
	return slices.DeleteFunc(out, func(f refitv1alpha1.PartFacts) bool { return f.Absent })
}
