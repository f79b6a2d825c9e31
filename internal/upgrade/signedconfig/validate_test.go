package signedconfig

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/configpatch"
)

func args(args ...string) *refitv1alpha1.ControlPlaneComponentPatch {
	out := &refitv1alpha1.ControlPlaneComponentPatch{}
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		out.ExtraArgs = append(out.ExtraArgs, refitv1alpha1.ReleaseArgument{Name: name, Value: value})
	}
	return out
}

func TestPatchesThatAreAccepted(t *testing.T) {
	for _, patch := range []*refitv1alpha1.ClusterConfigurationPatch{
		nil,
		{APIServer: args("goaway-chance=0.001", "feature-gates=A=true,B=false", "v=4")},
		{APIServer: args("service-account-extend-token-expiration=false")},
		{ControllerManager: args("concurrent-deployment-syncs=10"), Scheduler: args("kube-api-qps=100")},
		{Etcd: &refitv1alpha1.EtcdPatch{Local: args("quota-backend-bytes=8589934592")}},
		{FeatureGates: map[string]bool{"NodeLocalCRISocket": true}},
	} {
		if err := Validate(patch); err != nil {
			t.Errorf("%+v: %v", patch, err)
		}
	}
}

func TestPatchesThatAreRefused(t *testing.T) {
	var many []string
	for i := range maxFields + 1 {
		many = append(many, fmt.Sprintf("a%d=1", i))
	}
	for want, patch := range map[string]*refitv1alpha1.ClusterConfigurationPatch{
		"sets nothing":        {APIServer: args()},
		"65 fields":           {APIServer: args(many...)},
		"9 values":            {APIServer: args(strings.Split(strings.Repeat("v=1 ", 9), " ")[:9]...)},
		"not a name":          {APIServer: args("--v=4")},
		"printable":           {APIServer: args("v=a\nb")},
		"1 to 512":            {APIServer: args("v=")},
		"Refit relies on it":  {APIServer: args("secure-port=1")},
		"cluster-cidr":        {ControllerManager: args("cluster-cidr=10.0.0.0/8")},
		"initial-cluster":     {Etcd: &refitv1alpha1.EtcdPatch{Local: args("initial-cluster=a=https://b")}},
		"names a file":        {APIServer: args("audit-policy-file=a")},
		"path of the host":    {APIServer: args("tls-sni-cert-key=/a,/b")},
		"a secret":            {APIServer: args("oidc-issuer-url=https://user:hidden@issuer")},
		"contains a secret":   {APIServer: args("some-password=hidden")},
		"everybody can read":  {APIServer: args("x=-----BEGIN RSA PRIVATE KEY-----hidden")},
		"RootlessControl":     {FeatureGates: map[string]bool{"RootlessControlPlane": false}},
		`featureGates."a b"`:  {FeatureGates: map[string]bool{"a b": true}},
		`scheduler.extraArgs`: {Scheduler: args("leader-elect=false")},
	} {
		if err := Validate(patch); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestUnsupportedFields(t *testing.T) {
	values := Of(&refitv1alpha1.ClusterConfigurationPatch{
		APIServer: args("goaway-chance=1", "goaway-chanse=1"), Etcd: &refitv1alpha1.EtcdPatch{Local: args("anything=1")},
		FeatureGates: map[string]bool{"Unheard": true},
	})
	want := []string{"kube-apiserver v1.36.3 has no flag --goaway-chanse", "kubeadm v1.36.3 has no feature gate Unheard"}
	if got := Unsupported(values, "v1.36.3"); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if got := Unsupported(values, "v1.99.0"); got != nil {
		t.Errorf("without facts: %q", got)
	}
}

func TestFieldsOfAPatch(t *testing.T) {
	values := Of(&refitv1alpha1.ClusterConfigurationPatch{
		APIServer: args("v=1", "v=2"), Etcd: &refitv1alpha1.EtcdPatch{Local: args("x=1")}, FeatureGates: map[string]bool{"A": false},
	})
	if got := values.Texts(); !slices.Equal(got, []string{"apiServer.extraArgs.v=1,2", "etcd.local.extraArgs.x=1", "featureGates.A=false"}) {
		t.Errorf("got %q", got)
	}
	if got := values.WithoutEtcd().Fields(); !slices.Equal(got, []configpatch.Field{"apiServer.extraArgs.v", "featureGates.A"}) {
		t.Errorf("without etcd: %q", got)
	}
}
