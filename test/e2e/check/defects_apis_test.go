//go:build e2e

package check

import "fmt"

func webhookDefects() []defect {
	const hook = "ValidatingWebhookConfiguration "
	return []defect{
		{
			// The pod must exist before the webhook, which would reject it.
			name: "a webhook that fails closed with one replica and guards itself",
			faults: []fault{
				objects(app{name: "hook-own", namespace: guarded, replicas: 1}.manifest(), service(guarded, "hook-own")),
				afterSeed("its pod to run", rolledOut(guarded, "hook-own")),
				objects(webhook{name: "own", service: "namespace: guarded, name: hook-own"}.manifest()),
			},
			want: []want{{check: "WebhookHasOneReplica", object: hook + "own"}},
		},
		{
			name: "a webhook that fails closed with one replica",
			faults: []fault{
				objects(app{name: "hook-one", replicas: 1}.manifest(), service(shop, "hook-one")),
				afterSeed("its pod to run", rolledOut(shop, "hook-one")),
				objects(webhook{name: "one", service: "namespace: shop, name: hook-one"}.manifest()),
			},
			want: []want{{check: "WebhookHasOneReplica", object: hook + "one", weighs: warn}},
		},
		{
			name:   "a webhook that fails closed without a ready pod",
			faults: []fault{objects(service(shop, "hook-none"), webhook{name: "none", service: "namespace: shop, name: hook-none"}.manifest())},
			want:   []want{{check: "WebhookUnreachable", object: hook + "none"}},
		},
		{
			name:   "a webhook that was left behind by its Service",
			faults: []fault{objects(webhook{name: "left", service: "namespace: shop, name: hook-left"}.manifest())},
			want:   []want{{check: "WebhookUnreachable", object: hook + "left"}},
		},
		{
			name:   "a webhook whose CA expired",
			faults: []fault{objects(webhook{name: "expired", service: spread, bundle: expiredCA()}.manifest())},
			want:   []want{{check: "WebhookCAExpired", object: hook + "expired"}},
		},
		{
			name: "a webhook that is asked about the system's objects",
			faults: []fault{objects(webhook{name: "nosy", service: spread, resources: `
  rules: [{apiGroups: [apps], apiVersions: [v1], resources: [controllerrevisions], operations: [UPDATE]}]`}.manifest())},
			want: []want{{check: "WebhookReachesSystem", object: hook + "nosy", weighs: warn}},
		},
		{
			name:   "a webhook that matches exactly",
			faults: []fault{objects(webhook{name: "exact", service: spread, fails: "Ignore", matches: "Exact"}.manifest())},
			want:   []want{{check: "WebhookMatchesExactly", object: hook + "exact", weighs: info}},
		},
	}
}

func apiDefects() []defect {
	const crd, oldAPI = "CustomResourceDefinition ", "/apis/networking.k8s.io/v1beta1/ipaddresses"
	return []defect{
		{
			name: "a definition with a stored version that it dropped",
			faults: []fault{
				objects(definition("widgets", "Widget", "")),
				kubectl([]string{
					"patch", "customresourcedefinition", "widgets.defects.example.com", "--subresource=status", "--type=merge",
					`--patch={"status":{"storedVersions":["v1alpha1","v1"]}}`,
				}, []string{"version"}),
			},
			want: []want{{check: "CRDStoredVersionDropped", object: crd + "widgets.defects.example.com"}},
		},
		{
			name: "a definition whose conversion does not answer",
			faults: []fault{objects(definition("gears", "Gear", `
  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {namespace: shop, name: converter}}}}`))},
			want: []want{{check: "CRDConversionUnreachable", object: crd + "gears.defects.example.com", weighs: warn}},
		},
		{
			name: "a definition whose name is taken",
			faults: []fault{
				objects(definition("originals", "Original", "")),
				objects(definition("copies", "Original", "")),
			},
			want: []want{{check: "CRDNotEstablished", object: crd + "copies.defects.example.com", weighs: warn}},
		},
		{
			name:   "an aggregated API that is not available",
			faults: []fault{objects(apiService("v1", "gone.example.com"))},
			want:   []want{{check: "APIServiceUnavailable", object: "APIService v1.gone.example.com"}},
		},
		{
			name:   "metrics that are not available",
			faults: []fault{objects(apiService("v1beta1", "metrics.k8s.io"))},
			want:   []want{{check: "APIServiceUnavailable", object: "APIService v1beta1.metrics.k8s.io", weighs: warn}},
		},
		{
			name:   "a Helm release with an API that the target removes",
			faults: []fault{objects(helm{name: "batch", status: "deployed", manifest: "apiVersion: scheduling.k8s.io/v1alpha1\nkind: Workload\nmetadata: {name: nightly}\n"}.secret())},
			want:   []want{{check: "RemovedAPIInHelmRelease", object: "Helm release shop/batch"}},
		},
		{
			name: "a Helm release with an API that is removed two hops on",
			to:   newest,
			faults: []fault{objects(helm{
				name: "ranges", status: "deployed",
				manifest: "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: networking.k8s.io/v1beta1\nkind: ServiceCIDR\nmetadata: {name: more}\n",
			}.secret())},
			want: []want{{check: "RemovedAPIInHelmRelease", object: "Helm release shop/ranges"}},
		},
		{
			name:   "a Helm release with an API that was removed long ago",
			faults: []fault{objects(helm{name: "ancient", status: "deployed", manifest: "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: web}\n"}.secret())},
			want:   []want{{check: "RemovedAPIInHelmRelease", object: "Helm release shop/ancient", weighs: warn}},
		},
		{
			name:   "a Helm release that was interrupted",
			faults: []fault{objects(helm{name: "halfway", status: "pending-upgrade", manifest: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"}.secret())},
			want:   []want{{check: "HelmReleasePending", object: "Helm release shop/halfway", weighs: warn}},
		},
		{
			name: "a persistent volume that only a driver can mount",
			faults: []fault{objects(`{apiVersion: v1, kind: PersistentVolume, metadata: {name: portworx},
				spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], portworxVolume: {volumeID: data}}}`)},
			want: []want{{check: "InTreeVolume", object: "PersistentVolume portworx", weighs: warn}},
		},
		{
			name:   "a Service with externalIPs",
			faults: []fault{objects(`{apiVersion: v1, kind: Service, metadata: {name: outside, namespace: shop}, spec: {externalIPs: [192.0.2.7], ports: [{port: 80}]}}`)},
			want:   []want{{check: "ExternalIPsUsed", object: "Service shop/outside", weighs: warn}},
		},
		{
			name: "an API in use that is removed two hops on",
			to:   newest,
			faults: []fault{
				afterRestore("the API server to be as before", serves("cp-1", older)),
				afterRestore("the old API to be gone", refuses("cp-1", oldAPI)),
				handEdited("cp-1", "kube-apiserver", "    - kube-apiserver\n", "    - kube-apiserver\n    - --runtime-config=networking.k8s.io/v1beta1=true\n"),
				afterSeed("the old API to answer", asks("cp-1", oldAPI)),
				afterSeed("the API server to be ready", serves("cp-1", older)),
			},
			want: []want{{check: "RemovedAPIInUse", object: "API networking.k8s.io/v1beta1 ipaddresses"}},
		},
	}
}

func definition(plural, kind, more string) string {
	return fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.defects.example.com}
spec:
  group: defects.example.com
  scope: Namespaced
  names: {plural: %[1]s, kind: %[2]s}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
  - {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}%[3]s
`, plural, kind, more)
}

func apiService(version, group string) string {
	return fmt.Sprintf(`{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: %[1]s.%[2]s}, spec: {group: %[2]s, version: %[1]s,
		groupPriorityMinimum: 100, versionPriority: 10, insecureSkipTLSVerify: true, service: {namespace: shop, name: nobody}}}`, version, group)
}
