package upstream

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// rpms is a repository in the layout of pkgs.k8s.io, built with rpmbuild and createrepo_c.
type rpms struct {
	*testing.T
	*server
	signer *signer
	repo   *Repository
}

func newRpms(t *testing.T) *rpms {
	t.Helper()
	needs(t, "rpmbuild", "createrepo_c")
	d := &rpms{T: t, server: newServer(t, t.TempDir()), signer: newSigner(t, 0)}
	for _, p := range []string{"kubeadm 1.36.3 150500.1.1 x86_64", "kubeadm 1.36.3 150500.1.1 aarch64", "kubelet 1.36.2 150500.1.1 x86_64", "cri-tools 1.36.0 1 noarch"} {
		d.pack(p)
	}
	run(t, filepath.Join(d.dir, "rpm"), "createrepo_c", "--quiet", ".")
	d.repo = &Repository{URL: d.URL + "/rpm", Keys: []string{d.signer.fingerprint}}
	d.sign()
	return d
}

func (d *rpms) pack(text string) {
	d.Helper()
	fields := strings.Fields(text)
	dir := d.TempDir()
	write(d.T, filepath.Join(dir, "p.spec"), fmt.Appendf(nil,
		"Name: %s\nVersion: %s\nRelease: %s\nSummary: a test\nLicense: none\n%%description\nof packages\n%%files\n", fields[0], fields[1], fields[2]))
	run(d.T, dir, "rpmbuild", "-bb", "--quiet", "--target", fields[3], "--define", "_topdir "+dir, "--define", "_rpmdir "+filepath.Join(d.dir, "rpm"), "p.spec")
}

func (d *rpms) path(name string) string { return filepath.Join(d.dir, "rpm/repodata", name) }

// sign publishes the key and signs repomd.xml, with options of gpg.
func (d *rpms) sign(options ...string) {
	d.Helper()
	write(d.T, d.path("repomd.xml.key"), d.signer.key())
	d.signer.gpg(append(options, "--armor", "--output", d.path("repomd.xml.asc"), "--detach-sign", d.path("repomd.xml"))...)
}

// list is the path of the list of packages, as clients request it.
func (d *rpms) list() string {
	d.Helper()
	found, err := filepath.Glob(d.path("*-primary.xml.*"))
	if err != nil || len(found) != 1 {
		d.Fatalf("%v %v", found, err)
	}
	return "/rpm/repodata/" + filepath.Base(found[0])
}

// copy returns the same repository on a server of its own.
func (d *rpms) copy(t *testing.T) *rpms {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(d.dir)); err != nil {
		t.Fatal(err)
	}
	out := &rpms{T: t, server: newServer(t, dir), signer: &signer{t: t, home: d.signer.home, fingerprint: d.signer.fingerprint}}
	out.repo = &Repository{URL: out.URL + "/rpm", Keys: d.repo.Keys}
	return out
}

// edit changes repomd.xml and signs it.
func (d *rpms) edit(from, to string) {
	d.Helper()
	before := read(d.T, d.path("repomd.xml"))
	after := bytes.ReplaceAll(before, []byte(from), []byte(to))
	if bytes.Equal(before, after) {
		d.Fatalf("repomd.xml does not contain %q", from)
	}
	write(d.T, d.path("repomd.xml"), after)
	d.sign()
}

// relist changes the list of packages, publishes it uncompressed, and signs it.
func (d *rpms) relist(from, to string) {
	d.Helper()
	before, err := decompress(d.list(), read(d.T, filepath.Join(d.dir, d.list())))
	if err != nil {
		d.Fatal(err)
	}
	after := bytes.ReplaceAll(before, []byte(from), []byte(to))
	if bytes.Equal(before, after) {
		d.Fatalf("the list does not contain %q:\n%s", from, before)
	}
	if err := os.Remove(filepath.Join(d.dir, d.list())); err != nil {
		d.Fatal(err)
	}
	write(d.T, d.path("primary.xml"), after)
	run(d.T, d.dir, "modifyrepo_c", "--remove", "primary", d.path(""))
	run(d.T, d.dir, "modifyrepo_c", "--no-compress", "--mdtype", "primary", d.path("primary.xml"), d.path(""))
	d.sign()
}

func TestRpmsOfASignedRepository(t *testing.T) {
	t.Parallel()
	good := newRpms(t)
	for situation, arrange := range map[string]func(d *rpms){
		"as upstream": func(*rpms) {},
		"redirected": func(d *rpms) {
			write(d.T, filepath.Join(d.dir, "cdn/list"), read(d.T, filepath.Join(d.dir, d.list())))
			d.answers[d.list()] = http.RedirectHandler("/cdn/list", http.StatusFound).ServeHTTP
		},
		"without compression":                    func(d *rpms) { d.relist("a test", "another") },
		"a signature for another day":            func(d *rpms) { d.sign("--default-sig-expire", "1d") },
		"an unusable package that is not wanted": func(d *rpms) { d.relist("noarch/cri-tools", "../noarch/cri-tools") },
	} {
		t.Run(situation, func(t *testing.T) {
			t.Parallel()
			d := good.copy(t)
			arrange(d)
			got, err := d.repo.Rpms(t.Context(), names)
			want := []string{"kubeadm 1.36.3-150500.1.1 aarch64", "kubeadm 1.36.3-150500.1.1 x86_64", "kubelet 1.36.2-150500.1.1 x86_64"}
			if err != nil || !slices.Equal(versions(got), want) {
				t.Errorf("%v %v", versions(got), err)
			}
			sameFiles(t, d.server, got)
		})
	}
}

func TestRpmsThatAreNotProven(t *testing.T) {
	t.Parallel()
	good := newRpms(t)
	list := read(t, filepath.Join(good.dir, good.list()))
	metadata, signature := read(t, good.path("repomd.xml")), read(t, good.path("repomd.xml.asc"))
	for situation, c := range map[string]struct {
		arrange func(d *rpms)
		want    string
	}{
		"another key": {func(d *rpms) { d.signer = newSigner(d.T, 0); d.sign() }, "is pinned"},
		"another key behind the pinned one": {func(d *rpms) {
			pinned := read(d.T, d.path("repomd.xml.key"))
			d.signer = newSigner(d.T, 0)
			d.sign()
			write(d.T, d.path("repomd.xml.key"), pinned)
		}, "not signed with the pinned key"},
		"an expired key": {func(d *rpms) {
			d.signer = newSigner(d.T, 1)
			d.repo.Keys, d.repo.Now = []string{d.signer.fingerprint}, in(72*time.Hour)
			d.sign()
		}, "has expired"},
		"an expired signature": {func(d *rpms) { d.sign("--default-sig-expire", "1d"); d.repo.Now = in(72 * time.Hour) }, "the signature has expired"},
		"SHA-1":                {func(d *rpms) { d.sign("--digest-algo", "SHA1") }, "hash"},
		"another digest":       {func(d *rpms) { d.answers["/rpm/repodata/repomd.xml"] = content(bytes.ToUpper(metadata)) }, "the signature is invalid"},
		"another signature":    {func(d *rpms) { d.answers["/rpm/repodata/repomd.xml.asc"] = content(metadata) }, "the signature is not readable"},
		"no signature":         {func(d *rpms) { d.answers["/rpm/repodata/repomd.xml.asc"] = http.NotFound }, "status 404"},
		"another list":         {func(d *rpms) { d.answers[d.list()] = content(list[:len(list)-1]) }, "the signed metadata names"},
		"another list, same size": {func(d *rpms) {
			d.answers[d.list()] = content(append(list[:len(list)-1:len(list)-1], ^list[len(list)-1]))
		}, "its digest differs"},
		"a truncated list":         {func(d *rpms) { d.answers[d.list()] = cut(list) }, "unexpected EOF"},
		"a truncated repomd.xml":   {func(d *rpms) { d.answers["/rpm/repodata/repomd.xml"] = cut(metadata) }, "unexpected EOF"},
		"a truncated signature":    {func(d *rpms) { d.answers["/rpm/repodata/repomd.xml.asc"] = content(signature[:len(signature)/2]) }, "cannot prove"},
		"an endless repomd.xml":    {func(d *rpms) { d.answers["/rpm/repodata/repomd.xml"] = endless }, "is larger than"},
		"an endless signature":     {func(d *rpms) { d.answers["/rpm/repodata/repomd.xml.asc"] = endless }, "is larger than"},
		"an endless list":          {func(d *rpms) { d.answers[d.list()] = endless }, "is larger than"},
		"another kind of digest":   {func(d *rpms) { d.edit(`type="sha256"`, `type="sha1"`) }, "no SHA-256 digest"},
		"two lists":                {func(d *rpms) { d.edit(`type="filelists"`, `type="primary"`) }, "2 lists of packages"},
		"no list":                  {func(d *rpms) { d.edit(`type="primary"`, `type="x"`) }, "0 lists of packages"},
		"a list elsewhere":         {func(d *rpms) { d.edit(`href="repodata/`, `href="../../`) }, "leads out of the repository"},
		"a package elsewhere":      {func(d *rpms) { d.relist(`href="x86_64/`, `href="../`) }, "leads out of the repository"},
		"another server":           {func(d *rpms) { d.relist(`<location href`, `<location xml:base="http://elsewhere.example" href`) }, "another repository"},
		"a package without digest": {func(d *rpms) { d.relist(`type="sha256"`, `type="md5"`) }, "no SHA-256 digest"},
		"a package without a size": {func(d *rpms) { d.relist(`package="`, `package="-`) }, "invalid size"},
		"a broken list":            {func(d *rpms) { d.relist(`</metadata>`, ``) }, "unexpected EOF"},
	} {
		t.Run(situation, func(t *testing.T) {
			t.Parallel()
			d := good.copy(t)
			c.arrange(d)
			got, err := d.repo.Rpms(t.Context(), names)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v %v, want %q in it", versions(got), err, c.want)
			}
		})
	}
}
