package release

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact/oci"
	"github.com/refit-dev/refit/internal/engine/artifact/oci/ocitest"
)

// publisher has a key and a registry. Change may change what the registry answers.
type publisher struct {
	private, public, fingerprint string
	host                         string
	change                       func(r *http.Request, a *answer)
}

// answer is an answer of the registry.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func newPublisher(t *testing.T) *publisher {
	t.Helper()
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	p := &publisher{}
	p.private, p.public = keyPair(t)
	p.host = ocitest.New(t, func(registry http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if p.change == nil {
				registry.ServeHTTP(w, r)
				return
			}
			recorder := httptest.NewRecorder()
			registry.ServeHTTP(recorder, r)
			a := &answer{recorder.Code, recorder.Header(), recorder.Body.Bytes()}
			p.change(r, a)
			maps.Copy(w.Header(), a.header)
			w.WriteHeader(a.status)
			_, _ = w.Write(a.body)
		})
	})
	keys, err := ReadPublicKeys([]string{p.public})
	if err != nil {
		t.Fatal(err)
	}
	p.fingerprint = keys[0].ID
	return p
}

// file returns a signed ClusterRelease of a version in a file.
func (p *publisher) file(t *testing.T, version, name string) string {
	t.Helper()
	object, err := (&Signer{KeyFile: p.private, Name: name}).Sign(t.Context(), "payload.json", payload(t, func(p *refitv1alpha1.ReleasePayload) {
		p.Kubernetes, p.Files[0].Version = version, version
	}))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), version+".yaml")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func (p *publisher) registry() *Registry {
	return &Registry{KeyFiles: []string{p.public}, Log: io.Discard}
}

// push pushes a ClusterRelease and returns the address with its digest only.
func (p *publisher) push(t *testing.T, version string) (byDigest string) {
	t.Helper()
	address, err := p.registry().Push(t.Context(), p.file(t, version, ""), os.ReadFile, "oci://"+p.host+"/refit/releases")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Replace(address, ":"+version, "", 1)
}

func (p *publisher) pull(t *testing.T, tag string) ([]byte, error) {
	t.Helper()
	return p.registry().Pull(t.Context(), "oci://"+p.host+"/refit/releases:"+tag)
}

func TestPulledReleaseIsTheSignedOne(t *testing.T) {
	p := newPublisher(t)
	file := p.file(t, "v1.36.3", "")
	var log bytes.Buffer
	r := p.registry()
	r.Log = &log
	address, err := r.Push(t.Context(), file, os.ReadFile, "oci://"+p.host+"/refit/releases")
	if err != nil || !strings.HasPrefix(address, "oci://"+p.host+"/refit/releases@sha256:") {
		t.Fatalf("%s, %v", address, err)
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for situation, c := range map[string]struct {
		registry Registry
		address  string
	}{
		"a key":         {Registry{KeyFiles: []string{p.public}}, "oci://" + p.host + "/refit/releases:v1.36.3"},
		"a fingerprint": {Registry{Fingerprints: []string{p.fingerprint}}, "oci://" + p.host + "/refit/releases:v1.36.3"},
		"a digest":      {Registry{KeyFiles: []string{p.public}}, address},
	} {
		c.registry.Log = &log
		got, err := c.registry.Pull(t.Context(), c.address)
		if err != nil || !sameFields(got, want) {
			t.Errorf("%s: %v\n%s", situation, err, got)
		}
	}
	for _, want := range []string{"Pushed ClusterRelease kubernetes-v1.36.3 of Kubernetes v1.36.3, signed by " + p.fingerprint, "signed by " + p.fingerprint + " (trusted), digest sha256:"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, log.String())
		}
	}
}

func TestKeysOfTheConfiguration(t *testing.T) {
	p := newPublisher(t)
	p.push(t, "v1.36.3")
	r := &Registry{Log: io.Discard}
	address := "oci://" + p.host + "/refit/releases:v1.36.3"
	if _, err := r.Pull(t.Context(), address); !isUsage(err) || !strings.Contains(err.Error(), "--key is required") {
		t.Errorf("without a key: %v", err)
	}
	text, err := os.ReadFile(p.public)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "refit")
	for _, file := range []string{filepath.Join(dir, "keys", "publisher.pem"), filepath.Join(dir, "refit-release.pem")} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Pull(t.Context(), address); err != nil {
			t.Errorf("with %s: %v", file, err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPushesThatAreRefused(t *testing.T) {
	p := newPublisher(t)
	_, foreign := keyPair(t)
	unsigned := filepath.Join(t.TempDir(), "payload.json")
	if err := os.WriteFile(unsigned, payload(t, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	file := p.file(t, "v1.36.3", "")
	p.push(t, "v1.36.3")
	repository := "oci://" + p.host + "/refit/releases"
	for situation, c := range map[string]struct {
		file, key, address, want string
	}{
		"an unsigned one":        {unsigned, p.public, repository, "cannot verify an unsigned ClusterRelease"},
		"signed by another key":  {file, foreign, repository, "not signed by a trusted key"},
		"the tag of another one": {file, p.public, repository + ":v1.35.4", "the tag is v1.35.4, but the ClusterRelease is of Kubernetes v1.36.3"},
		"to a digest":            {file, p.public, repository + "@sha256:" + strings.Repeat("a", 64), "which follows from the content"},
		"without a scheme":       {file, p.public, p.host + "/refit/releases", "is not an address"},
		"another one of the tag": {p.file(t, "v1.36.3", "other"), p.public, repository, "choose another tag"},
	} {
		if _, err := (&Registry{KeyFiles: []string{c.key}, Log: io.Discard}).Push(t.Context(), c.file, os.ReadFile, c.address); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", situation, err, c.want)
		}
	}
}

// The name is not signed.
func TestANameMustBeTheExpectedOne(t *testing.T) {
	p := newPublisher(t)
	if _, err := p.registry().Push(t.Context(), p.file(t, "v1.36.3", "kubernetes-v1.36.3-b"), os.ReadFile, "oci://"+p.host+"/refit/releases:b"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.pull(t, "b"); err == nil || !strings.Contains(err.Error(), "pass --name kubernetes-v1.36.3-b") {
		t.Error(err)
	}
	r := p.registry()
	r.Name = "kubernetes-v1.36.3-b"
	if got, err := r.Pull(t.Context(), "oci://"+p.host+"/refit/releases:b"); err != nil || !strings.Contains(string(got), "name: kubernetes-v1.36.3-b\n") {
		t.Errorf("%s, %v", got, err)
	}
}

func TestPulledFileIsWrittenOnlyIfItIsVerified(t *testing.T) {
	p := newPublisher(t)
	p.push(t, "v1.36.3")
	file := filepath.Join(t.TempDir(), "v1.36.3.yaml")
	none := func([]byte) error { t.Error("it is printed"); return nil }
	_, foreign := keyPair(t)
	address := "oci://" + p.host + "/refit/releases:v1.36.3"
	if err := (&Registry{KeyFiles: []string{foreign}, Log: io.Discard}).PullTo(t.Context(), file, address, none); err == nil {
		t.Error("a foreign key is accepted")
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the file is written")
	}
	if err := p.registry().PullTo(t.Context(), file, address, none); err != nil {
		t.Error(err)
	}
	if _, err := Load(file, os.ReadFile); err != nil {
		t.Error(err)
	}
}

var (
	manifestPath = regexp.MustCompile(`/manifests/v1\.36\.3$`)
	blobPath     = regexp.MustCompile(`/blobs/sha256:[0-9a-f]{64}$`)
)

// mutation is what a registry, or who controls it, does to an artifact: nobody but the owner of the
// key can sign.
type mutation struct {
	name string
	// manifest and layer return other content; nil keeps it. Repair sets digest and size in the
	// manifest to those of the other layer.
	manifest func(m *ocispec.Manifest)
	layer    func(text []byte) []byte
	repair   bool
	// raw returns other bytes of the manifest, under a digest that matches them.
	raw func(text []byte) []byte
	// header changes the answer to the request for the manifest.
	header func(a *answer)
}

// mutations returns the mutations of an artifact, whose layer is text. older and foreign are other
// layers: of another version by the same key, and of the same version by another key.
func mutations(text, older, foreign []byte) (out []mutation) {
	random := rand.New(rand.NewPCG(16, 3))
	add := func(m mutation, format string, args ...any) {
		m.name = fmt.Sprintf(format, args...)
		out = append(out, m)
	}
	start := bytes.Index(text, []byte("envelope: ")) + len("envelope: ")
	end := start + bytes.IndexByte(text[start:], '\n')
	flip := func(at int) func([]byte) []byte {
		return func(text []byte) []byte {
			out := bytes.Clone(text)
			if out[at] = 'A'; text[at] == 'A' {
				out[at] = 'B'
			}
			return out
		}
	}
	for range 60 {
		at := random.IntN(len(text))
		add(mutation{layer: flip(at)}, "byte %d of the layer", at)
	}
	for range 80 {
		at := start + random.IntN(end-start-4)
		add(mutation{layer: flip(at), repair: true}, "byte %d of the envelope, with its digest", at)
	}
	for range 40 {
		at := random.IntN(len(text))
		add(mutation{layer: func(text []byte) []byte { return text[:at] }}, "the layer cut at %d", at)
		at = random.IntN(end - 4)
		add(mutation{layer: func(text []byte) []byte { return text[:at] }, repair: true}, "the layer cut at %d, with its digest", at)
	}
	for name, other := range map[string][]byte{"older": older, "foreign": foreign, "empty": {}, "larger": append(bytes.Clone(text), make([]byte, 2<<20)...), "no YAML": []byte("\x00{")} {
		add(mutation{layer: func([]byte) []byte { return other }}, "an %s layer", name)
		add(mutation{layer: func([]byte) []byte { return other }, repair: true}, "an %s layer, with its digest", name)
	}
	replace := func(from, to string) func([]byte) []byte {
		return func(text []byte) []byte { return bytes.Replace(text, []byte(from), []byte(to), 1) }
	}
	for _, c := range [][2]string{
		{"name: kubernetes-v1.36.3", "name: kubernetes-v1.35.4"},
		{"name: kubernetes-v1.36.3", "name: \"\""},
		{"name: kubernetes-v1.36.3", "name: a b"},
		{"kubernetes: v1.36.3", "kubernetes: v1.35.4"},
		{"kind: ClusterRelease", "kind: ConfigMap"},
		{"apiVersion: refit.dev/v1alpha1", "apiVersion: v1"},
		{"spec:", "status: {}\nspec:"},
		{"metadata:", "metadata:\n  labels: {a: b}"},
		{"metadata:", "metadata:\n  ownerReferences: []"},
		{"envelope: ", "envelope: \"\" # "},
		{"apiVersion", "---\na: b\n---\napiVersion"},
		{"envelope: ", "unknown: "},
	} {
		add(mutation{layer: replace(c[0], c[1]), repair: true}, "%q instead of %q", c[1], c[0])
	}
	// The envelope without its signature, and with one of another payload.
	for name, change := range map[string]func(envelope map[string]any){
		"no signature":       func(e map[string]any) { e["signatures"] = []any{} },
		"an empty signature": func(e map[string]any) { e["signatures"] = []any{map[string]any{"keyid": "", "sig": ""}} },
		"another type":       func(e map[string]any) { e["payloadType"] = "application/vnd.in-toto+json" },
		"another payload":    func(e map[string]any) { e["payload"] = base64.StdEncoding.EncodeToString([]byte("{}")) },
	} {
		add(mutation{repair: true, layer: func(text []byte) []byte { return withEnvelope(text, change) }}, "an envelope with %s", name)
	}
	for _, mediaType := range []string{
		"", "application/yaml", "application/vnd.oci.image.layer.v1.tar+gzip", "application/vnd.refit.clusterrelease.v1alpha1", "application/vnd.refit.releasekey.v1alpha1+pem",
	} {
		add(mutation{manifest: func(m *ocispec.Manifest) { m.Layers[0].MediaType = mediaType }}, "a layer of type %q", mediaType)
		add(mutation{manifest: func(m *ocispec.Manifest) { m.ArtifactType = mediaType + "x" }}, "an artifact of type %q", mediaType+"x")
		add(mutation{header: func(a *answer) { a.header.Set("Content-Type", mediaType) }}, "an answer of type %q", mediaType)
		add(mutation{manifest: func(m *ocispec.Manifest) { m.MediaType = mediaType }}, "a manifest of type %q", mediaType)
		add(mutation{manifest: func(m *ocispec.Manifest) { m.Config.MediaType = mediaType }}, "a configuration of type %q", mediaType)
	}
	for name, change := range map[string]func(m *ocispec.Manifest){
		"no layer":             func(m *ocispec.Manifest) { m.Layers = nil },
		"two layers":           func(m *ocispec.Manifest) { m.Layers = append(m.Layers, m.Layers[0]) },
		"a negative size":      func(m *ocispec.Manifest) { m.Layers[0].Size = -1 },
		"no size":              func(m *ocispec.Manifest) { m.Layers[0].Size = 0 },
		"a smaller size":       func(m *ocispec.Manifest) { m.Layers[0].Size-- },
		"a larger size":        func(m *ocispec.Manifest) { m.Layers[0].Size++ },
		"a huge size":          func(m *ocispec.Manifest) { m.Layers[0].Size = 1 << 40 },
		"another digest":       func(m *ocispec.Manifest) { m.Layers[0].Digest = digest.FromString("x") },
		"an empty digest":      func(m *ocispec.Manifest) { m.Layers[0].Digest = "" },
		"no digest":            func(m *ocispec.Manifest) { m.Layers[0].Digest = "../../x" },
		"another algorithm":    func(m *ocispec.Manifest) { m.Layers[0].Digest = digest.SHA512.FromBytes(text) },
		"the layer inside":     func(m *ocispec.Manifest) { m.Layers[0].Data = text },
		"the layer elsewhere":  func(m *ocispec.Manifest) { m.Layers[0].URLs = []string{"https://elsewhere.example"} },
		"another title":        func(m *ocispec.Manifest) { m.Annotations[ocispec.AnnotationTitle] = "../x" },
		"no title":             func(m *ocispec.Manifest) { delete(m.Annotations, ocispec.AnnotationTitle) },
		"another version":      func(m *ocispec.Manifest) { m.Annotations[ocispec.AnnotationVersion] = "v1.36.4" },
		"no version":           func(m *ocispec.Manifest) { delete(m.Annotations, ocispec.AnnotationVersion) },
		"a subject":            func(m *ocispec.Manifest) { m.Subject = &m.Layers[0] },
		"another schema":       func(m *ocispec.Manifest) { m.SchemaVersion = 1 },
		"a real configuration": func(m *ocispec.Manifest) { m.Config.Digest = digest.FromString("x") },
	} {
		add(mutation{manifest: change}, "a manifest with %s", name)
	}
	for name, raw := range map[string]func([]byte) []byte{
		"cut":   func(text []byte) []byte { return text[:len(text)/2] },
		"empty": func([]byte) []byte { return nil },
		"an index": func([]byte) []byte {
			return []byte(`{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[]}`)
		},
		"large":   func(text []byte) []byte { return append(text, bytes.Repeat([]byte(" "), 1<<20)...) },
		"a list":  func([]byte) []byte { return []byte("[]") },
		"doubled": func(text []byte) []byte { return append(bytes.Clone(text), text...) },
	} {
		add(mutation{raw: raw}, "a manifest that is %s", name)
	}
	for status := 301; status < 600; status += 33 {
		add(mutation{header: func(a *answer) {
			a.status, a.body = status, nil
			a.header.Del("Location")
			a.header.Set("Content-Length", "0")
		}}, "status %d", status)
	}
	add(mutation{header: func(a *answer) { a.header.Set("Docker-Content-Digest", string(digest.FromString("x"))) }}, "another digest of the manifest")
	return out
}

func withEnvelope(text []byte, change func(envelope map[string]any)) []byte {
	var object map[string]any
	var envelope map[string]any
	if err := yaml.Unmarshal(text, &object); err != nil {
		panic(err)
	}
	spec := object["spec"].(map[string]any)
	raw, err := base64.StdEncoding.DecodeString(spec["envelope"].(string))
	if err == nil {
		err = json.Unmarshal(raw, &envelope)
	}
	if err != nil {
		panic(err)
	}
	change(envelope)
	if raw, err = json.Marshal(envelope); err != nil {
		panic(err)
	}
	spec["envelope"] = base64.StdEncoding.EncodeToString(raw)
	out, err := yaml.Marshal(object)
	if err != nil {
		panic(err)
	}
	return out
}

// apply returns a function that changes the answers of a registry.
func (m *mutation) apply(original []byte) func(r *http.Request, a *answer) {
	layer := original
	if m.layer != nil {
		layer = m.layer(original)
	}
	return func(r *http.Request, a *answer) {
		switch {
		case manifestPath.MatchString(r.URL.Path):
			if r.Method == http.MethodGet {
				m.changeManifest(a, layer)
			}
			if m.header != nil {
				m.header(a)
			}
		case blobPath.MatchString(r.URL.Path) && m.layer != nil:
			a.status, a.body = http.StatusOK, layer
			a.header.Set("Content-Length", strconv.Itoa(len(layer)))
			a.header.Set("Content-Type", "application/octet-stream")
			a.header.Del("Docker-Content-Digest")
		}
	}
}

func (m *mutation) changeManifest(a *answer, layer []byte) {
	if m.manifest != nil || m.repair {
		var manifest ocispec.Manifest
		if err := json.Unmarshal(a.body, &manifest); err != nil {
			panic(err)
		}
		if m.repair {
			manifest.Layers[0].Digest, manifest.Layers[0].Size = digest.FromBytes(layer), int64(len(layer))
		}
		if m.manifest != nil {
			m.manifest(&manifest)
		}
		raw, err := json.Marshal(manifest)
		if err != nil {
			panic(err)
		}
		a.body = raw
	}
	if m.raw != nil {
		a.body = m.raw(a.body)
	}
	a.header.Set("Content-Length", strconv.Itoa(len(a.body)))
	a.header.Set("Docker-Content-Digest", string(digest.FromBytes(a.body)))
}

func TestNoMutationOfAnArtifactIsAccepted(t *testing.T) {
	p := newPublisher(t)
	p.push(t, "v1.36.3")
	text, err := p.pull(t, "v1.36.3")
	if err != nil {
		t.Fatal(err)
	}
	older, err := os.ReadFile(p.file(t, "v1.35.4", ""))
	if err != nil {
		t.Fatal(err)
	}
	other, _ := keyPair(t)
	all := mutations(text, older, signed(t, other, nil))
	if len(all) < 200 {
		t.Fatalf("there are only %d mutations", len(all))
	}
	accepted := 0
	for _, m := range all {
		p.change = m.apply(text)
		if _, err := p.pull(t, "v1.36.3"); err == nil {
			accepted++
			t.Errorf("accepted: %s", m.name)
		}
	}
	p.change = func(*http.Request, *answer) {}
	if _, err := p.pull(t, "v1.36.3"); err != nil {
		t.Errorf("the artifact itself is refused: %v", err)
	}
	t.Logf("%d of %d mutations accepted", accepted, len(all))
}

// answerWith answers a request with what the registry has at another path.
func (p *publisher) answerWith(a *answer, r *http.Request, path string) {
	other, err := http.NewRequestWithContext(r.Context(), http.MethodGet, "http://"+p.host+path, http.NoBody)
	if err != nil {
		panic(err)
	}
	other.Header = r.Header
	response, err := http.DefaultClient.Do(other)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	if a.body, err = io.ReadAll(response.Body); err != nil {
		panic(err)
	}
	a.status, a.header = response.StatusCode, response.Header
}

// Who can write to a registry can move a tag to another artifact that the key signed.
func TestSwappedTagsAreRefused(t *testing.T) {
	p := newPublisher(t)
	byDigest := p.push(t, "v1.35.4")
	p.push(t, "v1.36.3")
	p.change = func(r *http.Request, a *answer) {
		if !manifestPath.MatchString(r.URL.Path) {
			return
		}
		p.answerWith(a, r, strings.Replace(r.URL.Path, "v1.36.3", "v1.35.4", 1))
	}
	if _, err := p.pull(t, "v1.36.3"); err == nil || !strings.Contains(err.Error(), "the tag is v1.36.3, but the ClusterRelease is of Kubernetes v1.35.4") {
		t.Error(err)
	}
	if _, err := p.registry().Pull(t.Context(), byDigest); err != nil {
		t.Errorf("by its digest: %v", err)
	}
}

func TestADigestSelectsExactlyOneArtifact(t *testing.T) {
	p := newPublisher(t)
	byDigest := p.push(t, "v1.36.3")
	if _, err := p.registry().Push(t.Context(), p.file(t, "v1.36.3", "other"), os.ReadFile, "oci://"+p.host+"/refit/releases:other"); err != nil {
		t.Fatal(err)
	}
	r := p.registry()
	r.Name = "other"
	for _, header := range []bool{true, false} {
		p.change = func(r *http.Request, a *answer) {
			if at := strings.LastIndex(r.URL.Path, "/manifests/sha256:"); at >= 0 {
				p.answerWith(a, r, r.URL.Path[:at]+"/manifests/other")
			}
			if !header {
				a.header.Del("Docker-Content-Digest")
			}
		}
		if _, err := r.Pull(t.Context(), byDigest); err == nil || strings.Contains(err.Error(), "named") {
			t.Errorf("another artifact is accepted, with the header %v: %v", header, err)
		}
	}
	p.change = nil
	if _, err := p.registry().Pull(t.Context(), byDigest); err != nil {
		t.Error(err)
	}
}

func TestAFingerprintIsNotLearned(t *testing.T) {
	p := newPublisher(t)
	p.push(t, "v1.36.3")
	_, foreign := keyPair(t)
	keys, err := ReadPublicKeys([]string{foreign})
	if err != nil {
		t.Fatal(err)
	}
	// The registry has the key of the publisher under the fingerprint of another one.
	p.change = func(r *http.Request, a *answer) {
		if path := strings.Replace(r.URL.Path, oci.KeyTag(keys[0].ID), oci.KeyTag(p.fingerprint), 1); path != r.URL.Path {
			a.status, a.body = http.StatusTemporaryRedirect, nil
			a.header.Set("Location", path)
		}
	}
	for fingerprint, want := range map[string]string{
		keys[0].ID: "is not the one that you trust", "SHA256:abc": "is not a fingerprint", "sha256:" + strings.Repeat("a", 64): "is not a fingerprint",
	} {
		r := &Registry{Fingerprints: []string{fingerprint}, Log: io.Discard}
		if _, err := r.Pull(t.Context(), "oci://"+p.host+"/refit/releases:v1.36.3"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", fingerprint, err, want)
		}
	}
}
