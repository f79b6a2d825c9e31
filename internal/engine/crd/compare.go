package crd

import (
	"context"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// comparisons are all comparisons of two definitions. Each returns what is wrong with the change.
var comparisons = []func(Change) []Finding{
	changedNames,          // the group, plural or kind differs
	changedScope,          // objects would have to move in or out of namespaces
	removedStoredVersions, // etcd may hold objects that nobody can decode
	removedVersions,       // clients of the version get 404
	changedConversion,     // another converter, or none
	changedStorage,        // objects are written in another version
}

// Compare returns what is wrong with a change apart from its objects. The old definition is the one
// of the cluster: its status names the versions in which objects are stored.
func Compare(ctx context.Context, change Change) []Finding {
	var found []Finding
	for _, compare := range comparisons {
		found = append(found, compare(change)...)
	}
	return append(found, invalid(ctx, change, found)...)
}

func changedNames(c Change) []Finding {
	var found []Finding
	o, n := &c.Old.Spec, &c.New.Spec
	for _, name := range []struct{ field, old, new string }{
		{"spec.group", o.Group, n.Group},
		{"spec.names.plural", o.Names.Plural, n.Names.Plural},
		{"spec.names.kind", o.Names.Kind, n.Names.Kind},
	} {
		if name.old != name.new {
			found = append(found, refusedChange(NamesChanged, name.field,
				"%s changes from %s to %s, which the API server refuses: the new name needs another CRD, without the objects", name.field, name.old, name.new))
		}
	}
	return found
}

func changedScope(c Change) []Finding {
	if c.Old.Spec.Scope == c.New.Spec.Scope {
		return nil
	}
	return []Finding{refusedChange(ScopeChanged, "spec.scope",
		"spec.scope changes from %s to %s, which the API server refuses", c.Old.Spec.Scope, c.New.Spec.Scope)}
}

func removedStoredVersions(c Change) []Finding {
	var found []Finding
	for _, version := range storedVersions(c.Old) {
		if versionOf(c.New, version) == nil {
			f := refusedChange(StorageVersionRemoved, "spec.versions",
				"version %s is missing, but objects may be stored in it (status.storedVersions), so the API server refuses the CRD", version)
			f.Version = version
			found = append(found, f)
		}
	}
	return found
}

// removedVersions returns a warning for each version that is no longer served: its objects remain,
// but whether a client still uses it is known to nobody.
func removedVersions(c Change) []Finding {
	var found []Finding
	for i := range c.Old.Spec.Versions {
		v := &c.Old.Spec.Versions[i]
		stored := slices.Contains(storedVersions(c.Old), v.Name) && versionOf(c.New, v.Name) == nil
		if !v.Served || serves(c.New, v.Name) || stored {
			continue
		}
		found = append(found, Finding{
			Reason: RemovesVersion, Defect: VersionRemoved, Severity: Warn, Version: v.Name, Field: "spec.versions",
			Message: fmt.Sprintf("version %s is no longer served: clients that use it fail", v.Name),
		})
	}
	return found
}

func changedConversion(c Change) []Finding {
	o, n := strategyOf(c.Old), strategyOf(c.New)
	if o == n {
		return nil
	}
	return []Finding{{
		Reason: ChangesStorage, Defect: ConversionChanged, Severity: Warn, Field: "spec.conversion.strategy",
		Message: fmt.Sprintf("the conversion strategy changes from %s to %s", o, n),
	}}
}

func changedStorage(c Change) []Finding {
	o, n := StorageVersion(c.Old), StorageVersion(c.New)
	if o == n {
		return nil
	}
	return []Finding{{
		Reason: ChangesStorage, Defect: StorageVersionChanged, Severity: Warn, Version: n, Field: "spec.versions",
		Message: fmt.Sprintf("the storage version changes from %s to %s: a rollback has to convert the objects back", o, n),
	}}
}

func strategyOf(crd *Definition) apiextensionsv1.ConversionStrategyType {
	if crd.Spec.Conversion == nil || crd.Spec.Conversion.Strategy == "" {
		return apiextensionsv1.NoneConverter
	}
	return crd.Spec.Conversion.Strategy
}

func refusedChange(defect Defect, field, format string, args ...any) Finding {
	return Finding{Reason: ChangeRefused, Defect: defect, Severity: Block, Field: field, Message: fmt.Sprintf(format, args...)}
}
