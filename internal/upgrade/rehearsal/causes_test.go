package rehearsal_test

import (
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/rehearsal"
)

// The lines are those of v1.36.3 and etcd 3.6.8.
func TestCauses(t *testing.T) {
	m := rehearsal.Manifest{Command: []string{
		"kube-apiserver", "--encryption-provider-config=/etc/enc.yaml", "--authentication-config=/etc/authn.yaml", "--authorization-config=/etc/authz.yaml",
		"--admission-control-config-file=/etc/adm.yaml",
	}}
	for name, c := range map[string]struct {
		log    string
		reason rehearsal.Reason
		object string
	}{
		"removed flag":         {"Error: unknown flag: --cloud-provider", rehearsal.FlagUnknown, "flag --cloud-provider"},
		"removed flag of etcd": {"flag provided but not defined: -enable-v2\nUsage:\n\n  etcd [flags]", rehearsal.FlagUnknown, "flag -enable-v2"},
		"removed gate": {
			failed(`unrecognized feature gate: ServiceTrafficDistribution`), rehearsal.FeatureGateUnknown, "feature gate ServiceTrafficDistribution",
		},
		"locked gate": {
			failed(`cannot set feature gate ImageVolume to false, feature is locked to true`), rehearsal.FeatureGateLocked, "feature gate ImageVolume",
		},
		"removed plugin": {
			failed(`disable-admission-plugins plugin \"PodSecurityPolicy\" is unknown`), rehearsal.AdmissionPluginUnknown, "admission plugin PodSecurityPolicy",
		},
		"removed group": {
			failed(`unknown api groups auditregistration.k8s.io`), rehearsal.RuntimeConfigUnknown, "runtime-config auditregistration.k8s.io",
		},
		"removed version": {
			failed(`group version autoscaling/v2beta2 that has not been registered`), rehearsal.RuntimeConfigUnknown, "runtime-config autoscaling/v2beta2",
		},
		"invalid value": {
			`Error: invalid argument "many" for "--max-requests-inflight" flag: strconv.ParseInt: parsing "many": invalid syntax`,
			rehearsal.FlagInvalid, "flag --max-requests-inflight",
		},
		"invalid combination": {failed(`--etcd-servers must be specified`), rehearsal.FlagInvalid, "flag --etcd-servers"},
		"invalid key": {
			failed(`error while parsing file: resources[0].providers[0].aescbc.keys[0].secret: Invalid value: \"REDACTED\": secrets must be base64 encoded`),
			rehearsal.EncryptionInvalid, "/etc/enc.yaml",
		},
		"invalid encryption": {
			failed(`error while parsing file: error decoding encryption provider configuration file \"/etc/e.yaml\": strict decoding error`),
			rehearsal.EncryptionInvalid, "/etc/e.yaml",
		},
		"invalid audit policy": {
			failed(`loading audit policy file: rules[0].level: Unsupported value: \"Everything\": from file /etc/audit.yaml`),
			rehearsal.AuditPolicyInvalid, "/etc/audit.yaml",
		},
		"invalid authn": {
			failed(`invalid authentication configuration: [jwt[0].issuer.url: Invalid value]`), rehearsal.AuthenticationInvalid, "/etc/authn.yaml",
		},
		"unreadable authn": {
			failed(`failed to load authentication configuration from file \"/etc/a.yaml\": strict decoding error`),
			rehearsal.AuthenticationInvalid, "/etc/a.yaml",
		},
		"invalid authz": {
			failed(`failed to load AuthorizationConfiguration from file: strict decoding error`), rehearsal.AuthorizationInvalid, "/etc/authz.yaml",
		},
		"invalid authorizer": {failed(`authorizers[0].type: Unsupported value: \"Nodes\"`), rehearsal.AuthorizationInvalid, "/etc/authz.yaml"},
		"invalid plugin config": {
			failed(`failed to apply admission: failed to initialize admission plugin \"PodSecurity\": configuration error`),
			rehearsal.AdmissionInvalid, "admission plugin PodSecurity",
		},
		"no admission config": {
			failed(`failed to apply admission: failed to read plugin config: no kind \"X\" is registered`), rehearsal.AdmissionInvalid, "/etc/adm.yaml",
		},
		"missing file": {
			failed(`loading audit policy file: failed to read file path \"/etc/a.yaml\": open /etc/a.yaml: no such file or directory`),
			rehearsal.FileMissing, "/etc/a.yaml",
		},
		"wrong key": {failed(`tls: private key does not match public key`), rehearsal.CertificateInvalid, ""},
		"no public key": {
			failed(`error reading public key file /etc/sa.pub: data does not contain any valid RSA or ECDSA public keys`),
			rehearsal.CertificateInvalid, "/etc/sa.pub",
		},
		"unknown cause": {failed(`error creating storage factory: context deadline exceeded`), rehearsal.StartFailed, "kube-apiserver"},
		"empty log":     {"", rehearsal.StartFailed, "kube-apiserver"},
	} {
		t.Run(name, func(t *testing.T) {
			got := rehearsal.Cause("kube-apiserver", m, c.log)
			if got.Reason != c.reason || got.Object != c.object || got.Remedy == "" || got.Unknown ||
				!strings.HasPrefix(got.Message, "kube-apiserver does not start") {
				t.Errorf("%+v", got)
			}
		})
	}
}

// failed is the log of an API server that ends with an error, after other messages that look like
// causes.
func failed(message string) string {
	return "W1116 16:00:00.000000       1 registry.go:1] setting --feature-gates is deprecated\n" +
		"E1116 16:00:00.000001       1 reflector.go:1] x509: certificate signed by unknown authority\n" +
		"E1116 16:00:00.000002       1 run.go:72] \"command failed\" err=\"" + message + "\"\n"
}

func TestAPIServerThatEndsWithoutItsKMSPluginIsUnknown(t *testing.T) {
	log := failed(`error while building transformers: rpc error: code = Unavailable desc = dial unix /kms/kms.sock: connect: connection refused`)
	if got := rehearsal.Cause("kube-apiserver", rehearsal.Manifest{}, log); got.Reason != rehearsal.KMSUnavailable || !got.Unknown || got.Remedy == "" {
		t.Errorf("%+v", got)
	}
}

// A message in a status is bounded.
func TestMessagesAreBounded(t *testing.T) {
	if got := rehearsal.Cause("kube-apiserver", rehearsal.Manifest{}, "Error: "+strings.Repeat("x", 10_000)); len(got.Message) > 400 {
		t.Errorf("the message has %d characters", len(got.Message))
	}
}
