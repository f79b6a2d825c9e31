package artifact

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

func signed(t *testing.T) (envelope []byte, keys []PublicKey) {
	t.Helper()
	key := NewKey()
	envelope, err := Sign(mustJSON(t, payload()), key)
	if err != nil {
		t.Fatal(err)
	}
	return envelope, []PublicKey{PublicOf(key)}
}

func reasonOf(err error) string {
	if f, ok := errors.AsType[*node.Failure](err); ok {
		return f.Reason
	}
	return ""
}

func TestSignedReleaseIsVerified(t *testing.T) {
	envelope, keys := signed(t)
	release, err := Verify(envelope, append([]PublicKey{PublicOf(NewKey())}, keys...))
	if err != nil {
		t.Fatal(err)
	}
	if release.KeyID != keys[0].ID || release.Payload.Kubernetes != "v1.36.3" || release.Digest != digestOf(mustJSON(t, payload())) {
		t.Errorf("%+v", release)
	}
}

// The example of the DSSE specification.
func TestSignedTextFollowsDSSE(t *testing.T) {
	if got := string(signedText("http://example.com/HelloWorld", []byte("hello world"))); got != "DSSEv1 29 http://example.com/HelloWorld 11 hello world" {
		t.Errorf("%q", got)
	}
}

func TestInvalidReleasesAreRefused(t *testing.T) {
	key := NewKey()
	keys := []PublicKey{PublicOf(key)}
	content := mustJSON(t, payload())
	good, err := Sign(content, key)
	if err != nil {
		t.Fatal(err)
	}
	resign := func(content string) []byte {
		out, err := Sign([]byte(content), key)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	edit := func(change func(e *envelope)) []byte {
		var e envelope
		if err := json.Unmarshal(good, &e); err != nil {
			t.Fatal(err)
		}
		change(&e)
		return mustJSON(t, e)
	}
	changed := bytes.Replace(content, []byte("v1.36.3"), []byte("v1.36.4"), 1)
	for name, c := range map[string]struct {
		envelope []byte
		keys     []PublicKey
		reason   string
	}{
		"another key":              {good, []PublicKey{PublicOf(NewKey())}, "ReleaseNotTrusted"},
		"no key":                   {good, nil, "NoReleaseKeys"},
		"one byte changed":         {edit(func(e *envelope) { e.Payload = base64.StdEncoding.EncodeToString(changed) }), keys, "ReleaseNotTrusted"},
		"no signature":             {edit(func(e *envelope) { e.Signatures = nil }), keys, "ReleaseInvalid"},
		"empty signature":          {edit(func(e *envelope) { e.Signatures[0].Sig = "" }), keys, "ReleaseNotTrusted"},
		"many signatures":          {edit(func(e *envelope) { e.Signatures = make([]signature, 17) }), keys, "ReleaseInvalid"},
		"another type":             {edit(func(e *envelope) { e.PayloadType = "application/vnd.in-toto+json" }), keys, "ReleaseInvalid"},
		"key ID of a trusted key":  {edit(func(e *envelope) { e.Payload = base64.StdEncoding.EncodeToString([]byte("{}")) }), keys, "ReleaseNotTrusted"},
		"cut off":                  {good[:len(good)/2], keys, "ReleaseInvalid"},
		"empty":                    {nil, keys, "ReleaseInvalid"},
		"huge":                     {make([]byte, MaxEnvelope+1), keys, "ReleaseInvalid"},
		"data after the end":       {append(bytes.Clone(good), " {}"...), keys, "ReleaseInvalid"},
		"unknown field":            {bytes.Replace(good, []byte(`{"payloadType"`), []byte(`{"x":1,"payloadType"`), 1), keys, "ReleaseInvalid"},
		"duplicate field":          {bytes.Replace(good, []byte(`{"payloadType"`), []byte(`{"payload":"e30=","payloadType"`), 1), keys, "ReleaseInvalid"},
		"duplicate field, by case": {bytes.Replace(good, []byte(`{"payloadType"`), []byte(`{"payLoad":"e30=","payloadType"`), 1), keys, "ReleaseInvalid"},
		"nested deeply":            {[]byte(strings.Repeat("[", 5000)), keys, "ReleaseInvalid"},
		"signed, unknown field":    {resign(`{"kubernetes":"v1.36.3","script":"reboot"}`), keys, "ReleaseInvalid"},
		"signed, duplicate field":  {resign(`{"kubernetes":"v1.36.3","kubernetes":"v1.37.1"}`), keys, "ReleaseInvalid"},
		"signed, by case":          {resign(`{"kubernetes":"v1.36.3","kuberneteS":"v1.37.1"}`), keys, "ReleaseInvalid"},
		"signed, long s":           {resign(`{"kubernetes":"v1.36.3","kuberneteſ":"v1.37.1"}`), keys, "ReleaseInvalid"},
		"signed, data after it":    {resign(`{"kubernetes":"v1.36.3"}{"kubernetes":"v1.37.1"}`), keys, "ReleaseInvalid"},
		"signed, invalid":          {resign(`{"kubernetes":"v1.36.3","runc":"1.4.0"}`), keys, "ReleaseInvalid"},
		"signed, null":             {resign(`null`), keys, "ReleaseInvalid"},
		"signed, not JSON":         {resign(`hello`), keys, "ReleaseInvalid"},
		"key of the wrong size":    {good, []PublicKey{{ID: "x", Key: []byte("short")}}, "ReleaseNotTrusted"},
		"payload of URL base64":    {edit(func(e *envelope) { e.Payload = base64.URLEncoding.EncodeToString([]byte("\xff\xfe\xfd")) }), keys, "ReleaseInvalid"},
		"payload, loose base64":    {edit(func(e *envelope) { e.Payload = "e31=" }), keys, "ReleaseInvalid"},
		"another version":          {edit(func(e *envelope) { e.PayloadType = refitv1alpha1.PayloadType(2) }), keys, "ReleaseNotTrusted"},
		"a newer version":          {signAs(t, refitv1alpha1.PayloadType(refitv1alpha1.MaxPayloadVersion+1), content, key), keys, "ReleaseInvalid"},
		"a patch in version 2":     {signAs(t, refitv1alpha1.PayloadType(2), mustJSON(t, withConfiguration(t)), key), keys, "ReleaseInvalid"},
		"archives in version 1":    {signAs(t, refitv1alpha1.PayloadType(1), mustJSON(t, withArchive(t)), key), keys, "ReleaseInvalid"},
		"signed without a type":    {edit(func(e *envelope) { e.Signatures[0].Sig = base64.StdEncoding.EncodeToString(ed25519.Sign(key, content)) }), keys, "ReleaseNotTrusted"},
	} {
		t.Run(name, func(t *testing.T) {
			release, err := Verify(c.envelope, c.keys)
			if err == nil || reasonOf(err) != c.reason {
				t.Errorf("%v (%s), want %s", err, reasonOf(err), c.reason)
			}
			if release.Payload.Kubernetes != "" || release.Digest != "" {
				t.Errorf("a part of it was returned: %+v", release)
			}
		})
	}
}

// signAs signs a payload as another type.
func signAs(t *testing.T, payloadType string, payload []byte, key ed25519.PrivateKey) []byte {
	t.Helper()
	return mustJSON(t, envelope{
		PayloadType: payloadType, Payload: base64.StdEncoding.EncodeToString(payload),
		Signatures: []signature{{Sig: base64.StdEncoding.EncodeToString(ed25519.Sign(key, signedText(payloadType, payload)))}},
	})
}

// withArchive is a payload whose containerd is in an archive.
func withArchive(t *testing.T) refitv1alpha1.ReleasePayload {
	t.Helper()
	p := payload()
	p.Files[2] = memberOf("bin/containerd", containerdBinary, upstreamArchive(t))
	return p
}

// withConfiguration is a payload that sets fields of kubeadm's ClusterConfiguration.
func withConfiguration(t *testing.T) refitv1alpha1.ReleasePayload {
	t.Helper()
	p := withArchive(t)
	p.ClusterConfiguration = &refitv1alpha1.ClusterConfigurationPatch{
		APIServer:    &refitv1alpha1.ControlPlaneComponentPatch{ExtraArgs: []refitv1alpha1.ReleaseArgument{{Name: "goaway-chance", Value: "0.001"}}},
		FeatureGates: map[string]bool{"NodeLocalCRISocket": true, "ControlPlaneKubeletLocalMode": false},
	}
	return p
}

func TestFieldsThatAPayloadCannotSet(t *testing.T) {
	for text, want := range map[string]string{
		`{"apiServer":{"extraArgs":[{"name":"secure-port","value":"1"}]}}`: "Refit relies on it",
		`{"apiServer":{"extraVolumes":[]}}`:                                "unknown field",
		`{"networking":{}}`:                                                "unknown field",
		`{"featureGates":{"A":true,"A":false}}`:                            "duplicate field",
		`{}`:                                                               "sets nothing",
	} {
		_, err := ParsePayload([]byte(`{"kubernetes":"v1.36.3","clusterConfiguration":` + text + `}`))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}

func TestVersionOfAPayload(t *testing.T) {
	key := NewKey()
	for want, p := range map[string]refitv1alpha1.ReleasePayload{
		// Agents of the first version read only this type, byte for byte.
		"application/vnd.refit.release.v1+json": payload(),
		"application/vnd.refit.release.v2+json": withArchive(t),
		"application/vnd.refit.release.v3+json": withConfiguration(t),
	} {
		raw, err := Sign(mustJSON(t, p), key)
		if err != nil {
			t.Fatal(err)
		}
		var e envelope
		if err := json.Unmarshal(raw, &e); err != nil || e.PayloadType != want {
			t.Errorf("%s, want %s", e.PayloadType, want)
		}
		release, err := Verify(raw, []PublicKey{PublicOf(key)})
		if err != nil || !bytes.Equal(mustJSON(t, release.Payload), mustJSON(t, p)) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// A ClusterRelease without archives has the same bytes as before archives were added.
func TestPayloadWithoutArchivesIsUnchanged(t *testing.T) {
	const want = "sha256:08934e74fe000057ea8f15f8ad06ed7e37c296fd5dff792ae75ff7167fad31d6"
	if got := digestOf(mustJSON(t, payload())); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// REFIT_FUZZ is the number of attempts, REFIT_SEED the seed of the first.
func TestMutatedEnvelopeNeverReturnsUnsignedContent(t *testing.T) {
	tries, seed := number(t, "REFIT_FUZZ", 1_000), uint64(number(t, "REFIT_SEED", 1))
	good, keys := signed(t)
	want := mustJSON(t, payload())
	accepted := 0
	for i := range tries {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		changed := mutate(random, good)
		release, err := Verify(changed, keys)
		if err != nil {
			continue
		}
		accepted++
		// A change that keeps the signed content, such as a space or another key ID, is harmless.
		if release.Digest != digestOf(want) || !bytes.Equal(mustJSON(t, release.Payload), want) || release.KeyID != keys[0].ID {
			t.Fatalf("seed %d, attempt %d: accepted unsigned content: %s", seed, i, changed)
		}
	}
	t.Logf("%d envelopes, %d accepted, each with the signed content", tries, accepted)
	if accepted > tries/2 {
		t.Errorf("%d of %d mutations changed nothing: the test mutates too little", accepted, tries)
	}
}

func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// mutate changes the bytes of an envelope or of what is encoded in it.
func mutate(random *rand.Rand, good []byte) []byte {
	if random.IntN(2) == 0 {
		return scramble(random, good)
	}
	var e envelope
	if err := json.Unmarshal(good, &e); err != nil {
		panic(err)
	}
	inner, _ := base64.StdEncoding.DecodeString(e.Payload)
	sig, _ := base64.StdEncoding.DecodeString(e.Signatures[0].Sig)
	switch random.IntN(4) {
	case 0:
		sig = scramble(random, sig)
	case 1:
		e.PayloadType = string(scramble(random, []byte(e.PayloadType)))
	default:
		inner = scramble(random, inner)
	}
	e.Payload, e.Signatures[0].Sig = base64.StdEncoding.EncodeToString(inner), base64.StdEncoding.EncodeToString(sig)
	out, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	return out
}

func scramble(random *rand.Rand, in []byte) []byte {
	out := bytes.Clone(in)
	for range 1 + random.IntN(3) {
		if len(out) == 0 {
			break
		}
		at := random.IntN(len(out))
		switch random.IntN(6) {
		case 0:
			out[at] ^= 1 << random.IntN(8)
		case 1:
			out[at] = byte(random.IntN(256))
		case 2:
			out = out[:at]
		case 3:
			out = append(out[:at], out[min(len(out), at+1+random.IntN(20)):]...)
		case 4:
			to := min(len(out), at+1+random.IntN(200))
			out = append(out[:to], append(bytes.Clone(out[at:to]), out[to:]...)...)
		case 5:
			words := []string{`"kubernetes":"v1.99.0",`, `{`, `}`, `,`, "\x00", `"signatures":[],`, `\u0000`, `9`, `../`}
			out = append(out[:at], append([]byte(words[random.IntN(len(words))]), out[at:]...)...)
		}
	}
	return out
}

func TestReleaseThatDoesNotFitIntoAnObjectIsNotSigned(t *testing.T) {
	if _, err := Sign(make([]byte, MaxEnvelope), NewKey()); err == nil || !strings.Contains(err.Error(), "fewer platforms") {
		t.Error(err)
	}
}

func TestFilesAndImagesOfAHost(t *testing.T) {
	r := Release{Payload: payload()}
	files, err := r.For("linux", "amd64", binaryPart(refitv1alpha1.PartContainerd), binaryPart(refitv1alpha1.PartKubeadm))
	if err != nil || len(files) != 3 || files[0].Name != "containerd" || files[1].Name != "ctr" || files[2].Name != "kubeadm" {
		t.Errorf("%v %v", files, err)
	}
	_, err = r.For("linux", "arm64", binaryPart(refitv1alpha1.PartRunc), binaryPart(refitv1alpha1.PartKubeadm))
	if reasonOf(err) != "NotInRelease" || !strings.Contains(err.Error(), "no kubeadm of kind Binary, runc of kind Binary for linux/arm64") {
		t.Error(err)
	}
	for _, controlPlane := range []bool{false, true} {
		if err := r.RequireImages("linux", "amd64", controlPlane); err != nil {
			t.Errorf("control plane %t: %v", controlPlane, err)
		}
		if err := r.RequireImages("linux", "arm64", controlPlane); reasonOf(err) != "NotInRelease" {
			t.Errorf("control plane %t: %v", controlPlane, err)
		}
	}
}

func binaryPart(part refitv1alpha1.Part) refitv1alpha1.PartFacts {
	return refitv1alpha1.PartFacts{Part: part, Kind: refitv1alpha1.PackageBinary}
}
