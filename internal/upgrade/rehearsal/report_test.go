package rehearsal_test

import (
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/rehearsal"
)

func TestFailedListsAreFindings(t *testing.T) {
	resource := rehearsal.Resource{Group: "shop.example", Version: "v1", Resource: "carts"}
	secrets := rehearsal.Resource{Version: "v1", Resource: "secrets"}
	for name, c := range map[string]struct {
		failure rehearsal.FailedRequest
		reason  rehearsal.Reason
		object  string
		unknown bool
	}{
		"undecryptable Secret": {
			rehearsal.FailedRequest{Resource: secrets, Message: `Internal error occurred: unable to transform key "/registry/secrets/default/db": no matching prefix found (500)`},
			rehearsal.DecryptionFailed, "secrets secrets/default/db", false,
		},
		"stored version that the CRD lacks": {
			rehearsal.FailedRequest{Resource: resource, Message: "request to convert CR from an invalid group/version: shop.example/v1alpha1 (500)"},
			rehearsal.StoredVersionMissing, "carts.shop.example", false,
		},
		"objects that need the webhook": {
			rehearsal.FailedRequest{Resource: resource, Message: "conversion webhook for shop.example/v1alpha1, Kind=Cart failed: Post: dial tcp 10.96.0.9:443 (500)"},
			rehearsal.ConversionUnavailable, "carts.shop.example", true,
		},
		"Secret whose KMS plugin is down": {
			rehearsal.FailedRequest{Resource: secrets, Message: `unable to transform key "/registry/secrets/default/db": failed to decrypt DEK, error: rpc error: ` +
				`code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial unix /kms/kms.sock: connect: connection refused" (500)`},
			rehearsal.KMSUnavailable, "secrets secrets/default/db", true,
		},
		"Secret whose key the KMS does not have": {
			rehearsal.FailedRequest{Resource: secrets, Message: `unable to transform key "/registry/secrets/default/db": failed to decrypt DEK, error: rpc error: ` +
				`code = NotFound desc = no such key (500)`},
			rehearsal.DecryptionFailed, "secrets secrets/default/db", false,
		},
		"etcd that is slow": {
			rehearsal.FailedRequest{Resource: resource, Message: "etcdserver: request timed out (500)"}, rehearsal.ObservationFailed, "carts.shop.example", true,
		},
		"list that takes too long": {
			rehearsal.FailedRequest{Resource: resource, Message: "Timeout: request did not complete within the allotted timeout (504)"},
			rehearsal.ObservationFailed, "carts.shop.example", true,
		},
		"other": {rehearsal.FailedRequest{Resource: resource, Message: "the server could not find the requested resource (404)"}, rehearsal.ListFailed, "carts.shop.example", false},
	} {
		t.Run(name, func(t *testing.T) {
			found := rehearsal.Report{Ready: true, Failures: []rehearsal.FailedRequest{c.failure}}.Findings()
			if len(found) != 1 || found[0].Reason != c.reason || found[0].Object != c.object || found[0].Unknown != c.unknown || found[0].Remedy == "" {
				t.Errorf("%+v", found)
			}
		})
	}
}

func TestReadiness(t *testing.T) {
	for name, c := range map[string]struct {
		report rehearsal.Report
		want   []rehearsal.Reason
	}{
		"ready":            {rehearsal.Report{Ready: true, Listed: 60}, nil},
		"check that fails": {rehearsal.Report{Checks: []string{"informer-sync"}}, []rehearsal.Reason{rehearsal.NotReady}},
		"KMS plugin that fails": {
			rehearsal.Report{Checks: []string{"kms-providers", "kms-provider-0"}}, []rehearsal.Reason{rehearsal.KMSUnavailable, rehearsal.KMSUnavailable},
		},
		"check that fails without the KMS plugin": {
			rehearsal.Report{Checks: []string{"kms-providers", "informer-sync"}}, []rehearsal.Reason{rehearsal.KMSUnavailable, rehearsal.NotReady},
		},
		"no answer at all": {rehearsal.Report{}, []rehearsal.Reason{rehearsal.ObservationFailed}},
		"discovery that fails": {
			rehearsal.Report{Ready: true, Error: "the server is currently unable to handle the request"}, []rehearsal.Reason{rehearsal.ObservationFailed},
		},
	} {
		t.Run(name, func(t *testing.T) {
			found := c.report.Findings()
			if len(found) != len(c.want) {
				t.Fatalf("%+v", found)
			}
			for i, reason := range c.want {
				if found[i].Reason != reason || found[i].Unknown != (c.want[0] != rehearsal.NotReady) {
					t.Errorf("%+v, want %s", found[i], reason)
				}
			}
		})
	}
}

func TestFailuresBeyondTheBoundAreCounted(t *testing.T) {
	var report rehearsal.Report
	for range rehearsal.MaxFailures + 2 {
		report.AddFailure(rehearsal.FailedRequest{Message: "the server could not find the requested resource (404)"})
	}
	report.AddFailure(rehearsal.FailedRequest{Message: "conversion webhook for shop.example/v1alpha1, Kind=Cart failed"})
	if len(report.Failures) != rehearsal.MaxFailures || report.MoreFailures != 3 || report.MoreUnknown != 1 {
		t.Errorf("%d failures and %d more, of which %d are unknown", len(report.Failures), report.MoreFailures, report.MoreUnknown)
	}
}
