package observe

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestReleaseOf(t *testing.T) {
	envelope := func(kind, payload, signatures string) string {
		return fmt.Sprintf(`{"payloadType":%q,"payload":%q,"signatures":%s}`, kind, base64.StdEncoding.EncodeToString([]byte(payload)), signatures)
	}
	const payload, signed = `{"kubernetes":"v1.36.3","etcd":"3.6.8","artifacts":[{}]}`, `[{"keyid":"k","sig":"c2ln"}]`
	for name, test := range map[string]struct{ envelope, err string }{
		"valid":                {envelope(refitv1alpha1.ReleasePayloadType, payload, signed), ""},
		"invalid envelope":     {"sesame", "cannot parse the envelope"},
		"another payload type": {envelope("text/plain", payload, signed), `contains "text/plain", not a ClusterRelease`},
		"not signed":           {envelope(refitv1alpha1.ReleasePayloadType, payload, "[]"), "is not signed"},
		"invalid payload":      {envelope(refitv1alpha1.ReleasePayloadType, "sesame", signed), "cannot parse the signed payload"},
		"another version":      {envelope(refitv1alpha1.ReleasePayloadType, `{"kubernetes":"v1.36.2"}`, signed), `the signed version is "v1.36.2"`},
		"version 2":            {envelope(refitv1alpha1.PayloadType(2), payload, signed), ""},
		"a newer version":      {envelope(refitv1alpha1.PayloadType(refitv1alpha1.MaxPayloadVersion+1), payload, signed), "not a ClusterRelease up to version 3"},
		"archives in version 1": {
			envelope(refitv1alpha1.ReleasePayloadType, `{"kubernetes":"v1.36.3","files":[{"archive":{}}]}`, signed), "needs version 2, but the envelope has version 1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			version := map[string]int32{"valid": 1, "version 2": 2}[name]
			r := &refitv1alpha1.ClusterRelease{Spec: refitv1alpha1.ClusterReleaseSpec{Kubernetes: "v1.36.3", Envelope: []byte(test.envelope)}}
			got := releaseOf(r)
			if (got.Error == "") != (test.err == "") || !strings.Contains(got.Error, test.err) {
				t.Errorf("the error is %q, want %q", got.Error, test.err)
			}
			// The output of `printf '%s' PAYLOAD | sha256sum`.
			const digest = "sha256:de8dfa6d46791ab635be168f2513d0b615389cd3a3c97622f3c3e8e78748eba2"
			if test.err == "" && (got.Digest != digest || got.PayloadVersion != version || got.Payload.Etcd != "3.6.8") {
				t.Errorf("it is %+v", got)
			}
		})
	}
}
