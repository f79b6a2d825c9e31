package release

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/check"
	"github.com/refit-dev/refit/internal/upgrade/form"
)

// oneForm asks for the values of oneComponent.
const oneForm = `
form:
  groups:
  - name: general
    title: General
    items:
    - {name: persistent, title: Keep data, type: Switch, sets: [{component: app, path: data.keep}]}
    - name: limit
      title: Limit
      type: Number
      default: 1000000
      when: values.persistent
      valid: values.limit > 0
      message: must be positive
      sets: [{component: app, path: limit}]
`

func TestAFormIsSignedAndShown(t *testing.T) {
	private, public := keyPair(t)
	add, err := pack(t.Context(), publish(t, oneComponent+oneForm, nil), "v1.36.3", nil)
	if err != nil {
		t.Fatal(err)
	}
	raw := withComponents(t, func(c *unsigned) { c.Form = add.form })
	signed, err := (&Signer{KeyFile: private}).Sign(t.Context(), "content.json", raw)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := ReadPublicKeys([]string{public})
	if err != nil {
		t.Fatal(err)
	}
	release, err := artifact.Verify(signed.Spec.Envelope, keys)
	if err != nil {
		t.Fatal(err)
	}
	components, err := artifact.VerifyComponents(signed.Spec.Components, release.Digest, keys)
	if err != nil || !reflect.DeepEqual(components.Form, add.form) || components.Form.Groups[0].Items[1].Default != int64(1000000) {
		t.Fatalf("%+v, %v", components.Form, err)
	}
	content, err := signed.YAML()
	if err != nil {
		t.Fatal(err)
	}
	file, err := Read("release.yaml", content)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := file.Verify(keys)
	if err != nil {
		t.Fatal(err)
	}
	shown := opened.document("v1.36.3", "Verified")
	if got := text.Release(&shown); !strings.Contains(got, "\nForm\n  groups:\n") || !strings.Contains(got, "when: values.persistent") {
		t.Errorf("%s", got)
	}
}

func TestFormsThatAreNotPacked(t *testing.T) {
	for want, text := range map[string]string{
		"form.groups[0].items[0].sets[0].path: userMay of app 2.0.0 does not allow data.keep": strings.Replace(oneComponent, `["**"]`, "[limit]", 1) + oneForm,
		"form: groups[0].items[1].when: 1:1: undeclared reference":                            oneComponent + strings.Replace(oneForm, "values.persistent", "values.other", 1),
		"form: item limit, before anything is filled in: it must be positive": oneComponent +
			strings.Replace(strings.Replace(oneForm, "1000000", "0", 1), "      when: values.persistent\n", "", 1),
		`unknown field "widget"`: oneComponent + strings.Replace(oneForm, "default:", "widget:", 1),
	} {
		if _, err := pack(t.Context(), publish(t, text, nil), "v1.36.3", nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestAFormWithoutComponentsIsNotSigned(t *testing.T) {
	private, _ := keyPair(t)
	raw := bytes.Replace(payload(t, nil), []byte(`{"kubernetes"`), []byte(`{"form":{"groups":[]},"kubernetes"`), 1)
	if _, err := (&Signer{KeyFile: private}).Sign(t.Context(), "content.json", raw); err == nil || !strings.Contains(err.Error(), "components: the list is empty") {
		t.Error(err)
	}
}

func TestTheFormInTheDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../../docs/components.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "```yaml\nform:")
	block, _, found := strings.Cut(after, "```")
	if !found {
		t.Fatal("the page has no form")
	}
	raw, err := yaml.YAMLToJSONStrict([]byte("form:" + block))
	if err != nil {
		t.Fatal(err)
	}
	var file componentsFile
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	decoder.UseNumber()
	if err := decoder.Decode(&file); err != nil {
		t.Fatal(err)
	}
	if err := form.DecodeDefaults(file.Form); err != nil {
		t.Fatal(err)
	}
	components := []refitv1alpha1.ReleaseComponent{{Name: "dashboard", UserMay: []string{"ingress.**"}}, {Name: "shop", UserMay: []string{"**"}}}
	if err := form.Validate(file.Form, components); err != nil {
		t.Error(err)
	}
	if err := check.VerifyForm(t.Context(), file.Form); err != nil {
		t.Error(err)
	}
}
