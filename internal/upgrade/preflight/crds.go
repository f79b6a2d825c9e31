package preflight

import (
	"fmt"
	"slices"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

func crdObject(c *cluster.CRD) string { return "CustomResourceDefinition " + c.Name }

// crdStoredVersionDropped: objects in an undefined version cannot be read. A version that is only
// not served can still be read.
func crdStoredVersionDropped(v *view) []Finding {
	var found []Finding
	for i := range v.s.CRDs {
		c := &v.s.CRDs[i]
		for _, stored := range c.StoredVersions {
			if !slices.Contains(c.Versions, stored) {
				found = append(found, Finding{
					Object:  crdObject(c),
					Message: fmt.Sprintf("etcd may contain objects of %s in version %s, which the CRD does not define: they cannot be read", c.Name, stored),
					Remedy: fmt.Sprintf("Add the version back with served: false, rewrite all objects (`kubectl get %s -A -o yaml | kubectl "+
						"replace -f -`), then remove it from status.storedVersions.",
						c.Name),
				})
			} else if !slices.Contains(c.Served, stored) {
				found = append(found, Finding{
					Severity: Info,
					Object:   crdObject(c),
					Message:  fmt.Sprintf("etcd may contain objects of %s in version %s, which is no longer served", c.Name, stored),
					Remedy: fmt.Sprintf("Before you remove the version, rewrite all objects (`kubectl get %s -A -o yaml | kubectl replace "+
						"-f -`) and remove it from status.storedVersions.",
						c.Name),
				})
			}
		}
	}
	return found
}

func crdConversionUnreachable(v *view) []Finding {
	var found []Finding
	for i := range v.s.CRDs {
		c := &v.s.CRDs[i]
		b := c.Conversion
		if b == nil || len(c.Versions) < 2 || (b.Found == cluster.Yes && b.Ready > 0) {
			continue
		}
		f := Finding{
			Object: crdObject(c),
			Message: fmt.Sprintf("Service %s/%s has no ready endpoints, but it converts %s between its versions: objects cannot be read in all "+
				"versions",
				b.Namespace, b.Service, c.Name),
			Remedy: fmt.Sprintf("Fix its pods (`kubectl -n %s get pods`), or delete the CustomResourceDefinition if it is not needed.", b.Namespace),
		}
		if b.Found == cluster.Unknown {
			f.Unknown = true
			f.Message = fmt.Sprintf("the readiness of Service %s/%s, which converts %s between its versions, is unknown",
				b.Namespace, b.Service, c.Name)
		}
		found = append(found, f)
	}
	return found
}

func crdNotEstablished(v *view) []Finding {
	var found []Finding
	for i := range v.s.CRDs {
		c := &v.s.CRDs[i]
		if c.Established == cluster.Yes {
			continue
		}
		f := Finding{
			Unknown: c.Established == cluster.Unknown,
			Object:  crdObject(c),
			Message: c.Name + " is not established, so its objects are not served",
			Remedy:  fmt.Sprintf("Check its conditions: `kubectl describe crd %s`", c.Name),
		}
		if f.Unknown {
			f.Message = fmt.Sprintf("the status of %s is unknown", c.Name)
		} else if c.Message != "" {
			f.Message += ": " + c.Message
		}
		found = append(found, f)
	}
	return found
}
