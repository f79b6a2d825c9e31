//go:build e2e

package rehearsal

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/refit-dev/refit/test/e2e/bed"
)

// dir is mounted by every API server of kubeadm.
const dir = "/etc/kubernetes/pki/rehearsal"

const anchor = "    - --allow-privileged=true\n"

// breakage is a configuration that the target version does not accept.
type breakage struct {
	name    string
	replace []string // in the rendered manifests
	file    string   // below dir
	content string
	reason  string
	object  string
	unknown bool
}

// flag adds a flag to the API server.
func flag(text string) []string { return []string{anchor, anchor + "    - " + text + "\n"} }

var breakages = []breakage{
	{name: "unknown flag", replace: flag("--cloud-config=/etc/x"), reason: "FlagUnknown", object: "flag --cloud-config"},
	{name: "invalid value", replace: flag("--max-requests-inflight=many"), reason: "FlagInvalid", object: "flag --max-requests-inflight"},
	{
		name: "removed feature gate", replace: flag("--feature-gates=ServiceTrafficDistribution=true"),
		reason: "FeatureGateUnknown", object: "feature gate ServiceTrafficDistribution",
	},
	{name: "locked feature gate", replace: flag("--feature-gates=ImageVolume=false"), reason: "FeatureGateLocked", object: "feature gate ImageVolume"},
	{
		name: "removed admission plugin", replace: flag("--disable-admission-plugins=PodSecurityPolicy"),
		reason: "AdmissionPluginUnknown", object: "admission plugin PodSecurityPolicy",
	},
	{
		name: "removed runtime-config", replace: flag("--runtime-config=autoscaling/v2beta2=true"),
		reason: "RuntimeConfigUnknown", object: "runtime-config autoscaling/v2beta2",
	},
	{
		name: "invalid encryption key", replace: flag("--encryption-provider-config=" + dir + "/encryption.yaml"), file: "encryption.yaml",
		content: "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\n" +
			"resources: [{resources: [secrets], providers: [{aescbc: {keys: [{name: k, secret: \"###\"}]}}, {identity: {}}]}]\n",
		reason: "EncryptionConfigInvalid", object: dir + "/encryption.yaml",
	},
	{
		name: "KMS without its socket", replace: flag("--encryption-provider-config=" + dir + "/kms.yaml"), file: "kms.yaml",
		content: "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\n" +
			"resources: [{resources: [secrets], providers: [{kms: {apiVersion: v2, name: k, endpoint: \"unix:///run/kms.sock\"}}, {identity: {}}]}]\n",
		reason: "KMSUnavailable", object: "unix:///run/kms.sock", unknown: true,
	},
	{
		name: "invalid audit policy", replace: flag("--audit-policy-file=" + dir + "/audit.yaml"), file: "audit.yaml",
		content: "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Everything}]\n",
		reason:  "AuditPolicyInvalid", object: dir + "/audit.yaml",
	},
	{
		name: "invalid authentication", replace: flag("--authentication-config=" + dir + "/authentication.yaml"), file: "authentication.yaml",
		content: "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\njwt: [{issuer: {url: \"http://no\", audiences: [a]}}]\n",
		reason:  "AuthenticationConfigInvalid", object: dir + "/authentication.yaml",
	},
	{
		name: "invalid authorization", file: "authorization.yaml",
		replace: []string{"--authorization-mode=Node,RBAC", "--authorization-config=" + dir + "/authorization.yaml"},
		content: "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers: [{type: Nodes, name: nodes}]\n",
		reason:  "AuthorizationConfigInvalid", object: dir + "/authorization.yaml",
	},
	{
		name: "invalid admission configuration", replace: flag("--admission-control-config-file=" + dir + "/admission.yaml"), file: "admission.yaml",
		content: "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins: [{name: PodSecurity, configuration: " +
			"{apiVersion: pod-security.admission.config.k8s.io/v1, kind: PodSecurityConfiguration, defaults: {enforce: none}}}]\n",
		reason: "AdmissionConfigInvalid", object: "admission plugin PodSecurity",
	},
	{name: "missing file", replace: flag("--audit-policy-file=" + dir + "/missing.yaml"), reason: "FileMissing", object: dir + "/missing.yaml"},
	{
		name: "missing mount", replace: []string{"path: /usr/share/ca-certificates\n      type: DirectoryOrCreate", "path: /usr/share/missing\n      type: Directory"},
		reason: "MountMissing", object: "/usr/share/missing",
	},
	{
		name: "key of another certificate", replace: []string{"--tls-private-key-file=/etc/kubernetes/pki/apiserver.key", "--tls-private-key-file=/etc/kubernetes/pki/sa.key"},
		reason: "CertificateInvalid",
	},
	{
		name: "removed flag of etcd", replace: []string{"    - --snapshot-count=10000\n", "    - --snapshot-count=10000\n    - --enable-v2=true\n"},
		reason: "FlagUnknown", object: "flag -enable-v2",
	},
}

func (s *site) testBreakages(t *testing.T) {
	for _, b := range breakages {
		t.Run(b.name, func(t *testing.T) {
			s.exec(t, "mkdir", "-p", dir)
			if b.file != "" {
				bed.Must(t, bed.WriteOn(t.Context(), s.cp, dir+"/"+b.file, b.content))
			}
			got, err := s.rehearse(t, b.replace...)
			bed.Must(t, err)
			found := got.Hops[0].Findings
			if len(found) != 1 || found[0].Reason != b.reason || found[0].Object != b.object || found[0].Unknown != b.unknown || found[0].Remedy == "" {
				t.Errorf("%+v\n%s", found, got.Hops[0].LogTail)
			}
		})
	}
	s.exec(t, "rm", "-rf", dir)
}

// testBrokenData seeds objects that the API server cannot read.
func (s *site) testBrokenData(t *testing.T) {
	apply := func(manifest string) {
		t.Helper()
		bed.Must(t, bed.Until(t.Context(), "the CRD", bed.CheckTimeout, func(ctx context.Context) error {
			_, err := s.Kubectl(ctx, strings.NewReader(manifest), "apply", "--filename=-")
			return err
		}))
	}
	webhook := "conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: hook, namespace: default}}}}"
	apply(definition("carts", webhook, "v1", "v2"))
	apply(definition("parts", "", "v1alpha1"))
	apply("apiVersion: shop.example/v1\nkind: Carts\nmetadata: {name: a}\n")
	apply("apiVersion: shop.example/v1alpha1\nkind: Parts\nmetadata: {name: a}\n")
	apply("apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1beta1.metrics.k8s.io}\nspec: {group: metrics.k8s.io, " +
		"version: v1beta1, groupPriorityMinimum: 100, versionPriority: 100, insecureSkipTLSVerify: true, service: {name: none, namespace: default}}\n")
	t.Run("conversion webhook and aggregated API", func(t *testing.T) { s.requireFindings(t) })
	t.Run("undecryptable Secret", func(t *testing.T) {
		const key = "/registry/secrets/default/broken"
		s.etcdctl(t, "put", key, "k8s:enc:aescbc:v1:lost:0123456789abcdef0123456789abcdef")
		s.backUp(t)
		s.etcdctl(t, "del", key)
		got, err := s.rehearse(t)
		bed.Must(t, err)
		if !slices.ContainsFunc(got.Hops[0].Findings, func(f finding) bool {
			return f.Reason == "DecryptionFailed" && f.Object == "secrets secrets/default/broken"
		}) {
			t.Errorf("%+v", got.Hops[0].Findings)
		}
	})
	t.Run("objects in a version that needs the webhook", func(t *testing.T) {
		apply(definition("carts", webhook, "v2", "v1"))
		s.requireFindings(t, "ConversionUnavailable carts.shop.example")
		_, err := s.Kubectl(t.Context(), nil, "delete", "customresourcedefinition", "carts.shop.example", "--wait=false")
		bed.Must(t, err)
	})
	t.Run("stored version that the CRD lacks", func(t *testing.T) {
		apply(definition("parts", "", "v1", "v1alpha1"))
		_, err := s.Kubectl(t.Context(), nil, "patch", "customresourcedefinition", "parts.shop.example", "--subresource=status", "--type=merge",
			`--patch={"status":{"storedVersions":["v1"]}}`)
		bed.Must(t, err)
		apply(definition("parts", "", "v1"))
		s.backUp(t)
		got, err := s.rehearse(t)
		bed.Must(t, err)
		if !slices.ContainsFunc(got.Hops[0].Findings, func(f finding) bool { return f.Reason == "StoredVersionMissing" && f.Object == "parts.shop.example" }) {
			t.Errorf("%+v", got.Hops[0].Findings)
		}
	})
}

// requireFindings rehearses on a new backup and compares the findings.
func (s *site) requireFindings(t *testing.T, want ...string) {
	t.Helper()
	s.backUp(t)
	got, err := s.rehearse(t)
	bed.Must(t, err)
	var found []string
	for _, f := range got.Hops[0].Findings {
		found = append(found, f.Reason+" "+f.Object)
	}
	if !slices.Equal(found, want) {
		t.Errorf("%+v, want %v", got.Hops[0].Findings, want)
	}
}

// definition is a CRD; the first version is the storage version.
func definition(name, conversion string, versions ...string) string {
	text := "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: " + name + ".shop.example}\nspec:\n" +
		"  group: shop.example\n  scope: Namespaced\n  names: {plural: " + name + ", kind: " + strings.ToUpper(name[:1]) + name[1:] + "}\n"
	if conversion != "" {
		text += "  " + conversion + "\n"
	}
	text += "  versions:\n"
	for i, version := range versions {
		storage := "false"
		if i == 0 {
			storage = "true"
		}
		text += "  - {name: " + version + ", served: true, storage: " + storage +
			", schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}\n"
	}
	return text
}
