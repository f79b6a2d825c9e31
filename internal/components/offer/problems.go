package offer

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/component"
)

// The limits of the API.
const (
	maxProblems = 8
	maxDeletes  = 16
	maxCRDs     = 16
	maxObject   = 384
)

// HookTimeout bounds all hooks of a Helm action together.
const HookTimeout = 10 * time.Minute

// RemedyChartMissing is how to add a chart again. Its ConfigMap is immutable, so one with other
// content must be deleted first.
const RemedyChartMissing = "Apply the file of the signed ClusterRelease, which has its charts: `kubectl apply --server-side -f FILE`. " +
	"If the ConfigMap of the chart has other content, delete it first"

// remedies are how to fix each problem.
var remedies = map[string]string{
	"ChartGeneratesCA":         "Have cert-manager issue the certificate, or set it and its CA in the values. If the chart can do neither, ask its publisher",
	"ChartInvalid":             "Publish a ClusterRelease with a chart that renders",
	"ChartReadsCluster":        "Ask the publisher for a chart without lookup, or set the values that it generates",
	"ChartMissing":             RemedyChartMissing,
	"CheckFailed":              "Follow the remedy of the finding: the publisher of the component has written it",
	"CheckInvalid":             "Ask the publisher of the component to fix the check, or waive it if you know that its condition holds",
	"ComponentHasNoPath":       "Ask the publisher for a ClusterRelease with a version in between, or remove the component",
	"ComponentMoved":           "Ask the publisher for a ClusterRelease with the Helm release that is installed, or uninstall that one first",
	"ComponentNotAdopted":      "Run `refit components adopt NAME`, so that Refit takes over the Helm release",
	"ComponentOwnedByGitOps":   "Set spec.manage of the Component to Observe, and upgrade it with the tool that owns it",
	"ComponentPending":         "Wait until the other Helm action ends, or run `helm rollback`",
	"CRDChangeRefused":         "Ask the publisher for a CRD that the API server accepts",
	"CRDConversionUnavailable": "Fix the conversion webhook that spec.conversion of the CRD names, or the Service and the pods behind it",
	"CRDDropsFields":           "Remove the fields from the objects, or ask the publisher for a version that keeps them",
	"CRDRefusesObjects":        "Change the objects so that they match the new CRD",
	"CRDVersionInUse":          "Ask the publisher for a version in between, whose manifest has the object in a version that both CRDs serve",
	"FormIncomplete":           "Fill in the form in the configuration of `refit serve`, or set the values in the Component",
	"HelmRecordTooLarge":       "Reduce the values, or ask the publisher for a smaller chart",
	"HelmStorageUnsupported":   "Store the records of the release in Secrets (HELM_DRIVER=secret), or set spec.manage of the Component to Observe",
	"ObjectExists":             "Delete the object if nothing needs it, or rename it",
	"ObjectTaken":              "Annotate the object with helm.sh/resource-policy: keep, so that it stays",
	"PeerIncompatible":         "Upgrade the component in the peer first",
	"PeerUnknown":              "Add the peer and its version to spec.peers of the Component",
	"RemovalDeletesData":       "Annotate the object with helm.sh/resource-policy: keep, so that it stays; of a StatefulSet, set whenDeleted to Retain",
	"RemovalLeavesObjects":     "Delete the objects before the removal if nothing needs them",
	"RemovalNeedsHooks":        "Run `helm uninstall`, or ask the publisher for a ClusterRelease with onRemove: Keep",
	"SignatureInvalid":         "Sign the components of the ClusterRelease with a key that refit-components trusts",
	"UpgradeDeletesCRD":        "Delete the objects of the CRD first, or ask the publisher for a chart that has it",
	"ValuesForbidden":          "Remove the values from the Component, or save the form of this ClusterRelease if they are answers to an earlier one",
	"ValuesInvalid":            "Fix the values of the Component",
	"ValuesMissing":            "Create the Secret with this key in the namespace refit-components. If it is refit-form, save the form in `refit serve` again",
}

// problem returns a problem that blocks.
func problem(reason, object, format string, args ...any) Problem {
	return Problem{
		Reason: reason, Object: refitv1alpha1.Clip(object, maxObject), Blocks: true, Remedy: remedies[reason],
		Message: refitv1alpha1.Clip(cmp.Or(strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " "), reason), refitv1alpha1.MaxMessage),
	}
}

// NewProblem returns a problem that keeps an offer from being computed.
func NewProblem(reason, format string, args ...any) Problem {
	return problem(reason, "", format, args...)
}

// list names at most three items.
func list(items []string) string {
	const most = 3
	if len(items) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(items[:most], ", "), len(items)-most)
	}
	return strings.Join(items, ", ")
}

// ownerProblems reports a release that Refit must not change.
func ownerProblems(in Input) (problems []Problem) {
	switch in.Owner {
	case refitv1alpha1.OwnerFlux, refitv1alpha1.OwnerArgoCD:
		problems = append(problems, problem("ComponentOwnedByGitOps", "", "%s manages %s and would undo the upgrade", in.Owner, in.Component.Name))
	case refitv1alpha1.OwnerHelm:
		if !in.Spec.Adopt {
			found := problem("ComponentNotAdopted", "", "somebody installed %s with Helm, and Refit may not change it", in.Component.Name)
			found.Remedy = strings.ReplaceAll(found.Remedy, "NAME", in.Component.Name)
			problems = append(problems, found)
		}
	case refitv1alpha1.OwnerNone, refitv1alpha1.OwnerRefit:
	}
	if in.Pending != "" {
		problems = append(problems, problem("ComponentPending", "", "the Helm release is locked: %s", in.Pending))
	}
	return problems
}

// peerProblems reports peers whose versions do not fit.
func peerProblems(ctx context.Context, reader client.Client, in Input) ([]Problem, error) {
	var listed []string
	for i := range in.Component.Recipe {
		require := in.Component.Recipe[i].Require
		if require == nil || require.Peers == nil {
			continue
		}
		names, err := namesOf(ctx, reader, require.Peers.ListedBy)
		if err != nil {
			return nil, err
		}
		listed = append(listed, names...)
	}
	if len(listed) == 0 {
		return nil, nil
	}
	matrix, err := component.ParseMatrix(in.Component.Fits)
	if err != nil {
		return nil, err
	}
	var named []component.Peer
	for _, peer := range in.Spec.Peers {
		named = append(named, component.Peer{Name: peer.Name, Version: peer.Version})
	}
	found, err := component.CheckPeers(in.Component.Name, in.Component.Version, matrix, listed, named)
	if err != nil {
		return []Problem{problem(component.ReasonPeerUnknown, "", "%v", err)}, nil
	}
	var problems []Problem
	for _, p := range found {
		problems = append(problems, problem(p.Reason, p.Peer, "%s", p.Message))
	}
	return problems, nil
}

// maxPeers bounds the names that are read.
const maxPeers = 500

// namesOf returns the names of all objects of a resource, such as foreignclusters.core.liqo.io. A
// resource that the cluster does not have has none.
func namesOf(ctx context.Context, reader client.Client, resource string) (names []string, err error) {
	name, group, _ := strings.Cut(resource, ".")
	kind, err := reader.RESTMapper().KindFor(schema.GroupVersionResource{Group: group, Resource: name})
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot find the resource %s: %w", resource, err)
	}
	var found metav1.PartialObjectMetadataList
	found.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err := reader.List(ctx, &found, client.Limit(maxPeers)); err != nil {
		return nil, fmt.Errorf("cannot list %s: %w", resource, err)
	}
	for i := range found.Items {
		names = append(names, found.Items[i].Name)
	}
	return names, nil
}
