package artifact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// ofRelease is the digest of the ClusterRelease in these tests.
var ofRelease = digestOf([]byte("release"))

// twoComponents is an operator in two versions, and an application that needs it.
func twoComponents() refitv1alpha1.ComponentsPayload {
	chart := func(content string) refitv1alpha1.ComponentChart {
		return refitv1alpha1.ComponentChart{Digest: digestOf([]byte(content)), Size: int64(len(content))}
	}
	return refitv1alpha1.ComponentsPayload{Release: ofRelease, Components: []refitv1alpha1.ReleaseComponent{
		{Name: "operator", Version: "v1.1.2", Chart: chart("one"), Release: refitv1alpha1.HelmRelease{Namespace: "system", Name: "operator"}},
		{
			Name: "operator", Version: "v1.2.0", Chart: chart("two"), Release: refitv1alpha1.HelmRelease{Namespace: "system", Name: "operator"},
			Place: refitv1alpha1.PlaceBefore, OnRemove: refitv1alpha1.RemoveUninstall,
			Fits:    []refitv1alpha1.ComponentFit{{Version: ">=1.1 <1.3", Kubernetes: ">=1.35 <1.37"}},
			Values:  map[string]any{"crd-upgrade": map[string]any{"Enabled": false, "enabled": nil, "": "x"}, "limit": int64(1000000), "ratio": 0.5},
			UserMay: []string{"**", "!crd-upgrade.**"},
		},
		{Name: "app", Version: "3.0.0", Chart: chart("three"), Release: refitv1alpha1.HelmRelease{Namespace: "app", Name: "app"}, Needs: []string{"operator"}},
	}}
}

func TestSignedComponentsAreVerified(t *testing.T) {
	key := NewKey()
	envelope, err := SignComponents(twoComponents(), key)
	if err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func() (Components, error){
		"verified": func() (Components, error) {
			return VerifyComponents(envelope, ofRelease, []PublicKey{PublicOf(NewKey()), PublicOf(key)})
		},
		"unverified": func() (Components, error) { return UnverifiedComponents(envelope, ofRelease) },
	} {
		t.Run(name, func(t *testing.T) {
			got, err := open()
			if err != nil {
				t.Fatal(err)
			}
			if want := twoComponents().Components; !reflect.DeepEqual(got.List, want) {
				t.Errorf("%+v, want %+v", got.List, want)
			}
			if got.KeyID != PublicOf(key).ID || !digestPattern.MatchString(got.Digest) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestComponentsThatAreNotTrusted(t *testing.T) {
	key := NewKey()
	keys := []PublicKey{PublicOf(key)}
	content := mustJSON(t, twoComponents())
	good, err := SignComponents(twoComponents(), key)
	if err != nil {
		t.Fatal(err)
	}
	release, err := Sign(mustJSON(t, payload()), key)
	if err != nil {
		t.Fatal(err)
	}
	as := func(content string) []byte {
		return signAs(t, refitv1alpha1.ComponentsPayloadType, []byte(content), key)
	}
	edit := func(change func(e *envelope)) []byte {
		var e envelope
		if err := json.Unmarshal(good, &e); err != nil {
			t.Fatal(err)
		}
		change(&e)
		return mustJSON(t, e)
	}
	tampered := bytes.Replace(content, []byte("v1.2.0"), []byte("v1.2.1"), 1)
	field := func(with string) []byte {
		return as(strings.Replace(string(content), `"name":"app"`, `"name":"app",`+with, 1))
	}
	for name, c := range map[string]struct {
		envelope []byte
		release  string
		keys     []PublicKey
		reason   string
	}{
		"another key":              {good, ofRelease, []PublicKey{PublicOf(NewKey())}, "ComponentsNotTrusted"},
		"no key":                   {good, ofRelease, nil, "NoReleaseKeys"},
		"tampered":                 {edit(func(e *envelope) { e.Payload = base64.StdEncoding.EncodeToString(tampered) }), ofRelease, keys, "ComponentsNotTrusted"},
		"no signature":             {edit(func(e *envelope) { e.Signatures = nil }), ofRelease, keys, "ComponentsInvalid"},
		"another ClusterRelease":   {good, digestOf([]byte("another")), keys, "ComponentsInvalid"},
		"no digest to compare":     {good, "", keys, "ComponentsInvalid"},
		"a ClusterRelease":         {release, ofRelease, keys, "ComponentsInvalid"},
		"signed as ClusterRelease": {signAs(t, refitv1alpha1.PayloadType(1), content, key), ofRelease, keys, "ComponentsInvalid"},
		"the type was changed": {
			bytes.Replace(signAs(t, refitv1alpha1.PayloadType(1), content, key), []byte(refitv1alpha1.PayloadType(1)), []byte(refitv1alpha1.ComponentsPayloadType), 1),
			ofRelease, keys, "ComponentsNotTrusted",
		},
		"empty":                     {nil, ofRelease, keys, "ComponentsInvalid"},
		"huge":                      {make([]byte, MaxEnvelope+1), ofRelease, keys, "ComponentsInvalid"},
		"cut off":                   {good[:len(good)/2], ofRelease, keys, "ComponentsInvalid"},
		"signed, unknown field":     {field(`"script":"reboot"`), ofRelease, keys, "ComponentsInvalid"},
		"signed, unknown word":      {field(`"recipe":[{"run":{"command":"x"}}]`), ofRelease, keys, "ComponentsInvalid"},
		"signed, duplicate":         {field(`"version":"1"`), ofRelease, keys, "ComponentsInvalid"},
		"signed, duplicate by case": {field(`"Version":"1"`), ofRelease, keys, "ComponentsInvalid"},
		"signed, duplicate value":   {field(`"values":{"a":1,"a":2}`), ofRelease, keys, "ComponentsInvalid"},
		"signed, nested deeply":     {field(`"values":{"a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`), ofRelease, keys, "ComponentsInvalid"},
		"signed, data after it":     {as(string(content) + "{}"), ofRelease, keys, "ComponentsInvalid"},
		"signed, null":              {as("null"), ofRelease, keys, "ComponentsInvalid"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := VerifyComponents(c.envelope, c.release, c.keys)
			if err == nil || reasonOf(err) != c.reason {
				t.Errorf("%v (%s), want %s", err, reasonOf(err), c.reason)
			}
			if got.List != nil || got.Digest != "" {
				t.Errorf("a part of it was returned: %+v", got)
			}
		})
	}
}

func TestComponentsAreNoRelease(t *testing.T) {
	key := NewKey()
	envelope, err := SignComponents(twoComponents(), key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(envelope, []PublicKey{PublicOf(key)}); reasonOf(err) != "ReleaseInvalid" {
		t.Errorf("%v", err)
	}
}

func TestInvalidComponentsAreNotSigned(t *testing.T) {
	type payload = refitv1alpha1.ComponentsPayload
	last := func(p *payload) *refitv1alpha1.ReleaseComponent { return &p.Components[2] }
	for _, c := range []struct {
		situation string
		change    func(p *payload)
		want      string
	}{
		{"no ClusterRelease", func(p *payload) { p.Release = "v1.36.3" }, "release: the digest is not"},
		{"no component", func(p *payload) { p.Components = nil }, "the list is empty"},
		{"too many", func(p *payload) { p.Components = make([]refitv1alpha1.ReleaseComponent, 129) }, "129 versions are more than 128"},
		{"name with a dot", func(p *payload) { last(p).Name = "a.b" }, "is not a DNS label"},
		{"no name", func(p *payload) { last(p).Name = "" }, "is not a DNS label"},
		{"long name", func(p *payload) { last(p).Name = strings.Repeat("a", 64) }, "is not a DNS label"},
		{"version that is none", func(p *payload) { last(p).Version = "latest" }, `version: invalid version "latest"`},
		{"long version", func(p *payload) { last(p).Version = "1.0.0-" + strings.Repeat("a", 60) }, "more than 64"},
		{"chart without digest", func(p *payload) { last(p).Chart.Digest = "sha256:abc" }, "chart.digest"},
		{"empty chart", func(p *payload) { last(p).Chart.Size = 0 }, "chart.size"},
		{"large chart", func(p *payload) { last(p).Chart.Size = MaxChart + 1 }, "between 1 and 921600 bytes, not 921601"},
		{"one digest, two sizes", func(p *payload) { last(p).Chart.Digest = p.Components[0].Chart.Digest }, "two sizes"},
		{"namespace with a slash", func(p *payload) { last(p).Release.Namespace = "a/b" }, "is not the name of a namespace"},
		{"long Helm release", func(p *payload) { last(p).Release.Name = strings.Repeat("a", 54) }, "is not the name of a Helm release"},
		{"upper case Helm release", func(p *payload) { last(p).Release.Name = "App" }, "is not the name of a Helm release"},
		{"two components in one Helm release", func(p *payload) { last(p).Release = p.Components[0].Release }, "is the Helm release of operator already"},
		{"component that moves", func(p *payload) { p.Components[1].Release.Namespace = "other" }, "its other version is the Helm release system/operator"},
		{"same version twice", func(p *payload) { p.Components[1].Version = "v1.1.2" }, "version v1.1.2 occurs twice"},
		{"older version last", func(p *payload) { p.Components[1].Version = "v1.0.0" }, "older ones precede it"},
		{"needs what is missing", func(p *payload) { last(p).Needs = []string{"db"} }, `app needs "db"`},
		{"needs itself", func(p *payload) { last(p).Needs = []string{"app"} }, "need each other: app → app"},
		{"need each other", func(p *payload) { p.Components[0].Needs = []string{"app"} }, "need each other: operator → app → operator"},
		{"many needs", func(p *payload) { last(p).Needs = make([]string, 33) }, "at most 32 entries"},
		{"range that is none", func(p *payload) { last(p).Fits = []refitv1alpha1.ComponentFit{{Kubernetes: "~1.36"}} }, "fits[0].kubernetes"},
		{"values without a path", func(p *payload) { last(p).UserMay = []string{"a..b"} }, "userMay[0]"},
		{"unknown place", func(p *payload) { last(p).Place = "Between" }, `place: "Between"`},
		{"unknown removal", func(p *payload) { last(p).OnRemove = "Delete" }, `onRemove: "Delete"`},
		{"form without groups", func(p *payload) { p.Form = &refitv1alpha1.ComponentForm{} }, "form.groups: the list is empty"},
		{"invalid recipe", func(p *payload) { last(p).Recipe = []refitv1alpha1.RecipeStep{{}} }, "recipe[0]: a step has exactly one of"},
	} {
		t.Run(c.situation, func(t *testing.T) {
			p := twoComponents()
			c.change(&p)
			if _, err := SignComponents(p, NewKey()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q in it", err, c.want)
			}
		})
	}
}

func TestComponentsThatDoNotFitIntoAnObject(t *testing.T) {
	p := twoComponents()
	p.Components[0].Values = map[string]any{"text": strings.Repeat("x", MaxEnvelope*3/4)}
	if _, err := SignComponents(p, NewKey()); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("more than the %d that fit", MaxEnvelope)) {
		t.Error(err)
	}
}
