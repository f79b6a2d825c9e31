package release

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

const digestOfABC = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

// payload is the content of a ClusterRelease with one file, whose content is "abc".
func payload(t *testing.T, change func(*refitv1alpha1.ReleasePayload)) []byte {
	t.Helper()
	p := refitv1alpha1.ReleasePayload{
		Kubernetes: "v1.36.3", Pause: "3.10.2",
		Files: []refitv1alpha1.ReleaseFile{{
			Part: refitv1alpha1.PartKubeadm, Name: "kubeadm", Kind: refitv1alpha1.PackageBinary, OS: "linux", Arch: "amd64", Version: "v1.36.3",
			Blob: refitv1alpha1.Blob{Digest: digestOfABC, Size: 3, Path: "kubeadm"},
		}},
		Images: []refitv1alpha1.ReleaseImage{{Name: "registry.k8s.io/pause:3.10.2", OS: "linux", Arch: "amd64", Config: digestOfABC}},
	}
	if change != nil {
		change(&p)
	}
	raw, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func keyPair(t *testing.T) (private, public string) {
	t.Helper()
	pair, err := NewKeyPair(t.Context(), filepath.Join(t.TempDir(), "keys"), noTerminal())
	if err != nil {
		t.Fatal(err)
	}
	return pair.PrivateKey, pair.PublicKey
}

// signed is a ClusterRelease object as users store it.
func signed(t *testing.T, private string, change func(*refitv1alpha1.ClusterReleaseSpec)) []byte {
	t.Helper()
	object, err := (&Signer{KeyFile: private}).Sign(t.Context(), "payload.json", payload(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&object.Spec)
	}
	raw, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestSign(t *testing.T) {
	private, public := keyPair(t)
	for situation, c := range map[string]struct {
		raw      []byte
		key      string
		name     string
		wantName string
		want     string // the error
		usage    bool
	}{
		"a payload":                    {payload(t, nil), private, "", "kubernetes-v1.36.3", "", false},
		"with a name":                  {payload(t, nil), private, "kubernetes-v1.36.3-b", "kubernetes-v1.36.3-b", "", false},
		"with an invalid name":         {payload(t, nil), private, "Release 1", "", "is not a valid name", true},
		"with a name that is too long": {payload(t, nil), private, strings.Repeat("a", 64), "", "is not a valid name", true},
		"no payload":                   {[]byte("{}"), private, "", "", "cannot sign payload.json", false},
		"no files": {
			payload(t, func(p *refitv1alpha1.ReleasePayload) { p.Files = nil }), private, "", "",
			"cannot sign payload.json: it has no files", false,
		},
		"with a public key":  {payload(t, nil), public, "", "", "it is a public key", false},
		"with a missing key": {payload(t, nil), private + ".missing", "", "", "cannot read the key", false},
	} {
		t.Run(situation, func(t *testing.T) {
			object, err := (&Signer{KeyFile: c.key, Name: c.name}).Sign(t.Context(), "payload.json", c.raw)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) || isUsage(err) != c.usage {
					t.Errorf("Sign() = %v, want %q", err, c.want)
				}
				return
			}
			if err != nil || object.Metadata.Name != c.wantName || object.Kind != "ClusterRelease" || object.Spec.Kubernetes != "v1.36.3" {
				t.Errorf("Sign() = %+v, %v", object, err)
			}
		})
	}
}

func TestReadFindsTheFormOfAClusterRelease(t *testing.T) {
	private, _ := keyPair(t)
	object := signed(t, private, nil)
	var spec struct {
		Spec refitv1alpha1.ClusterReleaseSpec
	}
	if err := yaml.Unmarshal(object, &spec); err != nil {
		t.Fatal(err)
	}
	for situation, c := range map[string]struct {
		raw    []byte
		name   string
		signed bool
		want   string
	}{
		"an object":        {object, "kubernetes-v1.36.3", true, ""},
		"its envelope":     {spec.Spec.Envelope, "", true, ""},
		"a payload":        {payload(t, nil), "", false, ""},
		"another kind":     {[]byte("apiVersion: v1\nkind: Pod\n"), "", false, `its kind is "Pod"`},
		"no YAML":          {[]byte("{"), "", false, "x.yaml"},
		"an empty file":    {nil, "", false, "x.yaml"},
		"two objects":      {append(append(object, "---\n"...), object...), "", false, "x.yaml"},
		"an unknown field": {append([]byte("extra: 1\n"), object...), "", false, "extra"},
	} {
		t.Run(situation, func(t *testing.T) {
			file, err := Read("x.yaml", c.raw)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) || !isUsage(err) {
					t.Errorf("Read() = %v, want a usage error with %q", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			content, signed, err := file.Open()
			if err != nil || signed != c.signed || file.Name != c.name || content.Payload.Kubernetes != "v1.36.3" {
				t.Errorf("Open() = %+v, %v, %v of %q", content, signed, err, file.Name)
			}
		})
	}
}

func TestVerify(t *testing.T) {
	private, public := keyPair(t)
	_, other := keyPair(t)
	for situation, c := range map[string]struct {
		raw  []byte
		keys []string
		want string
	}{
		"the key that signed":     {signed(t, private, nil), []string{public}, ""},
		"one of several keys":     {signed(t, private, nil), []string{other, public}, ""},
		"a directory of keys":     {signed(t, private, nil), []string{filepath.Dir(public)}, ""},
		"another key":             {signed(t, private, nil), []string{other}, "sign"},
		"a payload":               {payload(t, nil), []string{public}, "cannot verify an unsigned ClusterRelease"},
		"another version outside": {signed(t, private, func(s *refitv1alpha1.ClusterReleaseSpec) { s.Kubernetes = "v1.36.4" }), []string{public}, `spec.kubernetes is "v1.36.4"`},
	} {
		t.Run(situation, func(t *testing.T) {
			keys, err := ReadPublicKeys(c.keys)
			if err != nil {
				t.Fatal(err)
			}
			file, err := Read("x.yaml", c.raw)
			if err != nil {
				t.Fatal(err)
			}
			content, err := file.Verify(keys)
			switch {
			case c.want == "" && (err != nil || content.Payload.Kubernetes != "v1.36.3"):
				t.Errorf("Verify() = %+v, %v", content, err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("Verify() = %v, want %q", err, c.want)
			}
		})
	}
}

func TestCompareReadsEachFileOnceAndListsTheWrongOnes(t *testing.T) {
	private, public := keyPair(t)
	keys, err := ReadPublicKeys([]string{public})
	if err != nil {
		t.Fatal(err)
	}
	file, err := Read("x.yaml", signed(t, private, nil))
	if err != nil {
		t.Fatal(err)
	}
	content, err := file.Verify(keys)
	if err != nil {
		t.Fatal(err)
	}
	content.Payload.Files = append(content.Payload.Files, content.Payload.Files[0]) // another host installs the same file
	for situation, c := range map[string]struct {
		text  string
		wrong int
	}{
		"the file":     {"abc", 0},
		"another file": {"abd", 1},
		"no file":      {"", 1},
	} {
		t.Run(situation, func(t *testing.T) {
			folder := t.TempDir()
			if c.text != "" {
				write(t, filepath.Join(folder, "kubeadm"), c.text)
			}
			t.Chdir(filepath.Dir(folder))
			sources, err := ParseSources([]string{filepath.Base(folder)}) // a relative path
			if err != nil {
				t.Fatal(err)
			}
			compared, err := Compare(t.Context(), content.Release, sources)
			if err != nil || compared.Files != 1 || len(compared.Wrong) != c.wrong {
				t.Errorf("Compare() = %+v, %v", compared, err)
			}
		})
	}
	if _, err := ParseSources([]string{"/nope"}); err == nil || err.Error() != "--from: /nope does not exist" {
		t.Errorf("ParseSources() of a missing directory = %v", err)
	}
	if _, err := ParseSources([]string{"ftp://example.com"}); err == nil || !strings.Contains(err.Error(), "--from") {
		t.Errorf("ParseSources() of an unknown source = %v", err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
