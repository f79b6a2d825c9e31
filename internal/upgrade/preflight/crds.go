package preflight

import (
	"fmt"
	"slices"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

func crdObject(c *cluster.CRD) string { return "CustomResourceDefinition " + c.Name }

// crdStoredVersionDropped: etcd may hold objects that nobody can read any more. A version that is only not served can still be read.
func crdStoredVersionDropped(v *view) []Finding {
	var found []Finding
	for i := range v.s.CRDs {
		c := &v.s.CRDs[i]
		for _, stored := range c.StoredVersions {
			if !slices.Contains(c.Versions, stored) {
				found = append(found, Finding{
					Object:  crdObject(c),
					Message: fmt.Sprintf("etcd may hold objects of %s in version %s, which it does not define: these cannot be read", c.Name, stored),
					Remedy: fmt.Sprintf("Define the version again, unserved; write every object anew (kubectl get %s -A -o yaml | kubectl "+
						"replace -f -); then take it out of status.storedVersions.",
						c.Name),
				})
			} else if !slices.Contains(c.Served, stored) {
				found = append(found, Finding{
					Severity: Info,
					Object:   crdObject(c),
					Message:  fmt.Sprintf("etcd may hold objects of %s in version %s, which is not served any more", c.Name, stored),
					Remedy: fmt.Sprintf("Before the version is dropped, write every object anew (kubectl get %s -A -o yaml | kubectl replace "+
						"-f -) and take it out of status.storedVersions.",
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
			Message: fmt.Sprintf("nothing is ready behind Service %s/%s, which converts %s between its versions: its objects cannot be read "+
				"in all of them",
				b.Namespace, b.Service, c.Name),
			Remedy: fmt.Sprintf("Bring its pods back (kubectl -n %s get pods), or remove the definition if nobody needs it.", b.Namespace),
		}
		if b.Found == cluster.Unknown {
			f.Unknown = true
			f.Message = fmt.Sprintf("whether anything is ready behind Service %s/%s, which converts %s between its versions, is not known",
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
			Remedy:  fmt.Sprintf("Look why: kubectl describe crd %s", c.Name),
		}
		if f.Unknown {
			f.Message = fmt.Sprintf("whether %s is established is not known", c.Name)
		} else if c.Message != "" {
			f.Message += ": " + c.Message
		}
		found = append(found, f)
	}
	return found
}
