package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/terminal/terminaltest"
	"github.com/refit-dev/refit/internal/engine/artifact/oci/ocitest"
)

// newPayload is the payload of a ClusterRelease with one file, in a directory.
func newPayload(t *testing.T) (path, folder string) {
	t.Helper()
	folder = t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "kubeadm"), []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	const digest = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	content, err := json.Marshal(refitv1alpha1.ReleasePayload{
		Kubernetes: "v1.36.3", Pause: "3.10.2",
		Files: []refitv1alpha1.ReleaseFile{{
			Part: refitv1alpha1.PartKubeadm, Name: "kubeadm", Kind: refitv1alpha1.PackageBinary, OS: "linux", Arch: "amd64", Version: "v1.36.3",
			Blob: refitv1alpha1.Blob{Digest: digest, Size: 3, Path: "kubeadm"},
		}},
		Images: []refitv1alpha1.ReleaseImage{{Name: "registry.k8s.io/pause:3.10.2", OS: "linux", Arch: "amd64", Config: digest}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return file(t, "payload.json", string(content)), folder
}

func newKey(t *testing.T) (private, public string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "keys")
	l := newLine(t)
	if code := l.run(t, "release", "key", "create", "--out", dir); code != 0 {
		t.Fatal(l.err)
	}
	return filepath.Join(dir, "refit-release.key"), filepath.Join(dir, "refit-release.pem")
}

// signedRelease is a ClusterRelease object in a file.
func signedRelease(t *testing.T, payload, private string) string {
	t.Helper()
	l := newLine(t)
	if code := l.run(t, "release", "sign", payload, "--key", private); code != 0 {
		t.Fatal(l.err)
	}
	return file(t, "release.yaml", l.out.String())
}

func TestReleaseFromKeyToVerified(t *testing.T) {
	private, public := newKey(t)
	if info, err := os.Stat(private); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the private key: %v %v", info.Mode(), err)
	}
	payload, folder := newPayload(t)
	release := signedRelease(t, payload, private)
	raw, err := os.ReadFile(release)
	if err != nil {
		t.Fatal(err)
	}
	var object refitv1alpha1.ClusterRelease
	if err := yaml.UnmarshalStrict(raw, &object); err != nil {
		t.Fatal(err)
	}
	if object.Name != "kubernetes-v1.36.3" || object.Spec.Kubernetes != "v1.36.3" || object.Kind != "ClusterRelease" {
		t.Errorf("%+v", object)
	}
	l := newLine(t)
	if code := l.run(t, "release", "verify", release, "--key", filepath.Dir(public), "--from", folder); code != 0 {
		t.Fatal(l.err)
	}
	for _, want := range []string{"ClusterRelease kubernetes-v1.36.3 of Kubernetes v1.36.3", "(trusted)", "1 file compared, all match the signed digests", "pulled by hosts"} {
		if !strings.Contains(l.out.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, l.out)
		}
	}
	shown := newLine(t)
	if code := shown.run(t, "release", "show", release); code != 0 || !strings.Contains(shown.out.String(), "(not verified)") {
		t.Errorf("%s%s", shown.err, shown.out)
	}
	unsigned := newLine(t)
	if code := unsigned.run(t, "release", "show", payload, "-o", "json"); code != 0 || !strings.Contains(unsigned.out.String(), `"trust": "Unsigned"`) {
		t.Errorf("%s%s", unsigned.err, unsigned.out)
	}
}

// As push and pull do, verify trusts the user's own key, and the keys that the user keeps beside
// it.
func TestReleaseIsVerifiedWithTheUsersKeys(t *testing.T) {
	private, public := newKey(t)
	payload, _ := newPayload(t)
	signed := signedRelease(t, payload, private)
	key, err := os.ReadFile(public)
	if err != nil {
		t.Fatal(err)
	}
	for _, beside := range []string{"refit/refit-release.pem", "refit/keys/publisher.pem"} {
		t.Setenv("XDG_CONFIG_HOME", t.TempDir())
		path := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), beside)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, key, 0o600)); err != nil {
			t.Fatal(err)
		}
		l := newLine(t)
		if code := l.run(t, "release", "verify", signed); code != 0 || !strings.Contains(l.out.String(), "(trusted)") {
			t.Errorf("%s: exit code %d: %s%s", beside, code, l.out, l.err)
		}
	}
}

func TestReleasesThatAreNotVerified(t *testing.T) {
	private, public := newKey(t)
	_, other := newKey(t)
	payload, folder := newPayload(t)
	release := signedRelease(t, payload, private)
	raw, err := os.ReadFile(release)
	if err != nil {
		t.Fatal(err)
	}
	bad := t.TempDir()
	if err := os.WriteFile(filepath.Join(bad, "kubeadm"), []byte("abx"), 0o600); err != nil {
		t.Fatal(err)
	}
	key, err := os.ReadFile(private)
	if err != nil {
		t.Fatal(err)
	}
	open := file(t, "open.key", string(key))
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"another key":             {[]string{"verify", release, "--key", other}, 1, "not signed by a trusted key"},
		"no key":                  {[]string{"verify", release}, 2, "--key"},
		"private key":             {[]string{"verify", release, "--key", private}, 1, "this is a private key"},
		"not signed":              {[]string{"verify", payload, "--key", public}, 1, "cannot verify an unsigned ClusterRelease"},
		"another version outside": {[]string{"verify", file(t, "r.yaml", strings.Replace(string(raw), "kubernetes: v1.36.3", "kubernetes: v1.36.4", 1)), "--key", public}, 1, "but the signed content has"},
		"two files":               {[]string{"verify", release, release, "--key", public}, 2, "one file"},
		"two objects":             {[]string{"show", file(t, "r.yaml", string(raw)+"---\n"+string(raw))}, 2, "give it one ClusterRelease"},
		`its kind is "Pod"`:       {[]string{"show", file(t, "r.yaml", "kind: Pod")}, 2, `its kind is "Pod"`},
		"empty":                   {[]string{"show", file(t, "r.yaml", "")}, 2, "the file is empty"},
		"misspelled field":        {[]string{"show", file(t, "r.yaml", string(raw)+"  more: 1\n")}, 2, "unknown field"},
		"not there":               {[]string{"show", "/does/not/exist"}, 1, "no such file"},
		"unknown source":          {[]string{"verify", release, "--key", public, "--from", "ftp://x/y"}, 2, "is not a source"},
		"sign with a public key":  {[]string{"sign", payload, "--key", public}, 1, "it is a public key. Use the private key, such as "},
		"sign what is signed":     {[]string{"sign", release, "--key", private}, 1, "it is signed already"},
		"sign with an open key":   {[]string{"sign", payload, "--key", open}, 1, "other users can read it"},
		"sign without a key":      {[]string{"sign", payload}, 2, "--key"},
		"sign something else":     {[]string{"sign", file(t, "p.json", `{"kubernetes":"v1.36.3","script":"x"}`), "--key", private}, 1, "unknown field"},
		"sign, a bad name":        {[]string{"sign", payload, "--key", private, "--name", "A_b"}, 2, "--name"},
		"add, no version":         {[]string{"add", "--from", "."}, 2, "name one version"},
		"add, no files":           {[]string{"add", "v1.36.3"}, 2, "--from DIRECTORY, --online or both are required"},
		"add, a bad version":      {[]string{"add", "latest", "--from", ".", "--yes"}, 2, `refit: "latest" is not a version like v1.36.3`},
		"add, nobody to ask":      {[]string{"add", "v1.36.3", "--from", "."}, 2, "use --yes"},
		"key that already exists": {[]string{"key", "create", "--out", private}, 1, "already exists. Choose another path with --out"},
		"key as .pem":             {[]string{"key", "create", "--out", filepath.Join(bad, "x.pem")}, 2, "has the extension of a public key. Use .key"},
		"create without version":  {[]string{"create", "--from", folder}, 2, "--kubernetes"},
		"create from nothing":     {[]string{"create", "--kubernetes", "v1.36.3"}, 2, "--from"},
		"create a bad version":    {[]string{"create", "--kubernetes", "latest", "--from", folder}, 2, `refit: "latest" is not a version like v1.36.3`},
		"create for a platform":   {[]string{"create", "--kubernetes", "v1.36.3", "--from", folder, "--arch", "arm64"}, 2, "--arch requires --online"},
		"create without a part":   {[]string{"create", "--kubernetes", "v1.36.3", "--from", folder, "--without", "x"}, 2, "cannot be excluded"},
		"create from too little":  {[]string{"create", "--kubernetes", "1.36.3", "--from", folder}, 1, "no kubeadm and no kubelet of v1.36.3"},
		"unknown command":         {[]string{"shwo"}, 2, "did you mean show?"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLine(t)
			if code := l.run(t, append([]string{"release"}, c.args...)...); code != c.code || !strings.Contains(l.err.String(), c.says) {
				t.Errorf("exit code %d and %q, want %d and %q", code, l.err, c.code, c.says)
			}
			if l.out.Len() > 0 {
				t.Errorf("stdout is for answers, not %q", l.out.String())
			}
		})
	}
	l := newLine(t)
	if code := l.run(t, "release", "verify", release, "--key", public, "--from", bad); code != 1 || !strings.Contains(l.err.String(), "1 of 1 files") ||
		!strings.Contains(l.out.String(), "Mismatches") {
		t.Errorf("exit code %d: %s%s", code, l.err, l.out)
	}
}

// An existing key is never overwritten, and half of a new key pair is never written beside half of
// an old one.
func TestKeysAreNotOverwritten(t *testing.T) {
	for name, half := range map[string]int{"both are there": -1, "the public one is gone": 1, "the private one is gone": 0} {
		t.Run(name, func(t *testing.T) {
			private, public := newKey(t)
			files := []string{private, public}
			if half >= 0 {
				if err := os.Remove(files[half]); err != nil {
					t.Fatal(err)
				}
			}
			before := contents(files)
			l := newLine(t)
			if code := l.run(t, "release", "key", "create", "--out", private); code != 1 || !strings.Contains(l.err.String(), "already exists. Choose another path with --out") {
				t.Errorf("exit code %d: %s", code, l.err)
			}
			if after := contents(files); before != after {
				t.Errorf("the files have changed")
			}
		})
	}
}

func contents(paths []string) string {
	var out bytes.Buffer
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		fmt.Fprintf(&out, "%s %v\n", raw, err != nil)
	}
	return out.String()
}

// A server may answer slowly: the user sees which one.
func TestReleaseFromUpstreamShowsWhatItReads(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	read, write := terminaltest.Open(t)
	output := make(chan string)
	go func() {
		all, _ := io.ReadAll(read) // a terminal ends with an error
		output <- string(all)
	}()
	l := newLine(t)
	l.Err = write
	if code := l.run(t, "release", "create", "--kubernetes", "v1.36.3", "--online", "--kind", "deb", "--packages", server.URL); code != 1 {
		t.Errorf("exit code %d", code)
	}
	write.Close()
	got := <-output
	before, after, _ := strings.Cut(got, "cannot create the ClusterRelease")
	if !strings.Contains(before, "Reading Kubernetes v1.36.3, 0 s: "+server.URL) || !strings.HasSuffix(before, "\r\x1b[Krefit: ") || after == "" {
		t.Errorf("%q", got)
	}
}

// A ClusterRelease made from upstream's files can be signed and verified.
func TestReleaseFromUpstreamSigned(t *testing.T) {
	config := []byte(`{"os":"linux","architecture":"amd64"}`)
	sum := fmt.Sprintf("%x", sha256.Sum256(config))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.Contains(r.URL.Path, "/manifests/"):
			fmt.Fprintf(w, `{"config":{"digest":"sha256:%s"}}`, sum)
		case strings.HasSuffix(r.URL.Path, ".sha256"):
			fmt.Fprint(w, sum)
		default:
			w.Header().Set("Content-Length", fmt.Sprint(len(config)))
			_, _ = w.Write(config)
		}
	}))
	defer server.Close()
	args := []string{"release", "create", "--kubernetes", "v1.36.3", "--online", "--downloads", server.URL, "--image-repository", server.URL}
	unproven := newLine(t)
	if code := unproven.run(t, args...); code != 1 || !strings.Contains(unproven.err.String(), "cannot prove "+server.URL) || unproven.out.Len() > 0 {
		t.Errorf("exit code %d: %s", code, unproven.err)
	}
	made := newLine(t)
	manifest := sha256.Sum256(fmt.Appendf(nil, `{"config":{"digest":"sha256:%s"}}`, sum))
	args = append(args, "--accept-digest", "sha256:"+sum, "--accept-digest", fmt.Sprintf("SHA256:%x", manifest))
	if code := made.run(t, args...); code != 0 {
		t.Fatal(made.err)
	}
	if !strings.Contains(made.err.String(), "Kubernetes v1.36.3: 3 files, 7 images") {
		t.Errorf("%s", made.err)
	}
	private, public := newKey(t)
	release := signedRelease(t, file(t, "p.json", made.out.String()), private)
	l := newLine(t)
	if code := l.run(t, "release", "verify", release, "--key", public, "-o", "yaml"); code != 0 || !strings.Contains(l.out.String(), "trust: Verified") {
		t.Errorf("%s%s", l.err, l.out)
	}
}

func TestInsufficientReleaseListsSkippedFiles(t *testing.T) {
	l := newLine(t)
	dir := filepath.Dir(file(t, "README", "hello"))
	code := l.run(t, "release", "create", "--kubernetes", "v1.36.3", "--from", dir)
	if code != 1 || !strings.Contains(l.err.String(), "Skipped 1 file: not part of a ClusterRelease (README)\n") {
		t.Errorf("exit code %d: %s", code, l.err)
	}
	if code := l.run(t, "release", "create", "--kubernetes", "v1.36.3", "--from", "/dev/null"); code != 2 || !strings.Contains(l.err.String(), "/dev/null is not a directory") {
		t.Errorf("exit code %d: %s", code, l.err)
	}
}

// Help is documentation here too: every command has a description and examples that parse, and fits
// a terminal.
func TestHelpOfReleaseCommands(t *testing.T) {
	root := newRootCommand(newLine(t).app)
	release, _, err := root.Find([]string{"release"})
	if err != nil {
		t.Fatal(err)
	}
	key, _, err := root.Find([]string{"release", "key"})
	if err != nil {
		t.Fatal(err)
	}
	for _, cmd := range append(append(release.Commands(), release), key.Commands()...) {
		if cmd.Long == "" || cmd.Example == "" || cmd.Short == "" {
			t.Errorf("%s: Short, Long or Example is missing", cmd.Name())
		}
		l := newLine(t)
		if code := l.run(t, append(strings.Fields(cmd.CommandPath())[1:], "--help")...); code != 0 {
			t.Errorf("%s: exit code %d: %s", cmd.Name(), code, l.err)
		}
		for line := range strings.SplitSeq(l.out.String(), "\n") {
			if len([]rune(line)) > 100 && !strings.HasPrefix(line, "  refit ") {
				t.Errorf("%s: this line of its help is too long: %q", cmd.Name(), line)
			}
		}
		for example := range strings.SplitSeq(cmd.Example, "\n") {
			line, _, _ := strings.Cut(example, "|")
			line, _, _ = strings.Cut(line, ">")
			if !strings.HasPrefix(line, "  refit ") {
				continue // a comment
			}
			found, args, err := root.Find(strings.Fields(line)[1:])
			if err != nil || found == root {
				t.Errorf("%q: there is no such command: %v", example, err)
			} else if err := found.ParseFlags(args); err != nil {
				t.Errorf("%q: %v", example, err)
			}
		}
	}
}

func TestReleaseThroughARegistry(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	payload, _ := newPayload(t)
	private, public := newKey(t)
	signed := signedRelease(t, payload, private)
	repository := "oci://" + ocitest.New(t, nil) + "/refit/releases"
	l := newLine(t)
	if code := l.run(t, "release", "push", signed, repository, "--key", public); code != 0 || !strings.HasPrefix(l.out.String(), repository+"@sha256:") {
		t.Fatalf("exit code %d: %s%s", code, l.out, l.err)
	}
	file := filepath.Join(t.TempDir(), "v1.36.3.yaml")
	l = newLine(t)
	if code := l.run(t, "release", "pull", repository+":v1.36.3", "--key", public, "--out", file); code != 0 || l.out.Len() > 0 {
		t.Fatalf("exit code %d: %s%s", code, l.out, l.err)
	}
	if pulled, want := contents([]string{file}), contents([]string{signed}); pulled != want {
		t.Errorf("pulled %s, want %s", pulled, want)
	}
	_, foreign := newKey(t)
	for situation, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"a foreign key":   {[]string{"pull", repository + ":v1.36.3", "--key", foreign}, 1, "not signed by a trusted key"},
		"no key":          {[]string{"pull", repository + ":v1.36.3"}, 2, "--key is required"},
		"no tag":          {[]string{"pull", repository, "--key", public}, 2, "has neither a tag nor a digest"},
		"no address":      {[]string{"pull"}, 2, "name an address"},
		"one argument":    {[]string{"push", signed}, 2, "name a file with a signed ClusterRelease"},
		"a missing one":   {[]string{"pull", repository + ":v1.36.4", "--key", public}, 1, "the registry has no such artifact"},
		"no such payload": {[]string{"push", payload, repository, "--key", public}, 1, "cannot verify an unsigned ClusterRelease"},
	} {
		l := newLine(t)
		if code := l.run(t, append([]string{"release"}, c.args...)...); code != c.code || !strings.Contains(l.err.String(), c.want) || l.out.Len() > 0 {
			t.Errorf("%s: exit code %d, want %d with %q: %s%s", situation, code, c.code, c.want, l.out, l.err)
		}
	}
	// A host accepts the same key by its fingerprint.
	fingerprint := regexp.MustCompile(`signed by (SHA256:\S+) `).FindStringSubmatch(l.err.String())[1]
	rendered := newLine(t)
	if code := rendered.run(t, "install", "--render", "--trust", repository, "--fingerprint", fingerprint); code != 0 {
		t.Fatalf("exit code %d: %s", code, rendered.err)
	}
	for line := range strings.Lines(contents([]string{public})) {
		if !strings.Contains(rendered.out.String(), strings.TrimSpace(line)) {
			t.Errorf("the manifests lack %s", line)
		}
	}
}
