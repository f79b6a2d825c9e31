package upstream

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// names are the packages that the tests look for.
var names = []string{"kubeadm", "kubelet", "kubectl", "kubernetes-cni"}

// debs is a repository in the layout of pkgs.k8s.io, built with the tools of Debian.
type debs struct {
	*testing.T
	*server
	signer *signer
	repo   *Repository
}

func newDebs(t *testing.T) *debs {
	t.Helper()
	needs(t, "dpkg-deb", "apt-ftparchive")
	d := &debs{T: t, server: newServer(t, t.TempDir()), signer: newSigner(t, 0)}
	for _, p := range []string{"kubeadm 1.36.3-1.1 amd64", "kubeadm 1.36.3-1.1 arm64", "kubeadm 1.36.2-1.1 amd64", "kubelet 1.36.3-1.1 amd64", "cri-tools 1.36.0-1.1 amd64"} {
		d.pack(p)
	}
	write(t, filepath.Join(d.dir, "deb/Release.key"), d.signer.key())
	d.repo = &Repository{URL: d.URL + "/deb/", Keys: []string{d.signer.fingerprint}}
	d.publish()
	return d
}

func (d *debs) pack(text string) {
	d.Helper()
	fields := strings.Fields(text)
	root := filepath.Join(d.TempDir(), "root")
	write(d.T, filepath.Join(root, "DEBIAN/control"), fmt.Appendf(nil,
		"Package: %s\nVersion: %s\nArchitecture: %s\nMaintainer: none\nDescription: a test\n of packages\n", fields[0], fields[1], fields[2]))
	write(d.T, filepath.Join(root, "usr/bin", fields[0]), []byte(text))
	to := filepath.Join(d.dir, "deb", fields[2], strings.Join(fields, "_")+".deb")
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		d.Fatal(err)
	}
	run(d.T, d.dir, "dpkg-deb", "--root-owner-group", "--build", root, to)
}

// publish writes the metadata, with options of apt-ftparchive.
func (d *debs) publish(options ...string) {
	d.Helper()
	dir := filepath.Join(d.dir, "deb")
	list := []byte(run(d.T, dir, "apt-ftparchive", "packages", "."))
	write(d.T, filepath.Join(dir, "Packages"), list)
	write(d.T, filepath.Join(dir, "Packages.gz"), zipped(d.T, list))
	d.sign(options...)
}

// sign writes InRelease for the lists of packages that exist.
func (d *debs) sign(options ...string) {
	d.Helper()
	dir := filepath.Join(d.dir, "deb")
	_ = os.Remove(filepath.Join(dir, "InRelease")) // or it would be in itself
	release := run(d.T, dir, append(append([]string{"apt-ftparchive"}, options...), "release", ".")...)
	write(d.T, d.release(), []byte(release))
	d.signer.gpg("--digest-algo", "SHA512", "--output", filepath.Join(dir, "InRelease"), "--clearsign", d.release())
}

// release is the path of the unsigned text of InRelease.
func (d *debs) release() string { return filepath.Join(d.dir, "release.txt") }

func zipped(t *testing.T, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestDebsOfASignedRepository(t *testing.T) {
	t.Parallel()
	good := newDebs(t)
	for situation, arrange := range map[string]func(d *debs){
		"as upstream": func(*debs) {},
		"redirected": func(d *debs) {
			write(d.T, filepath.Join(d.dir, "cdn/list"), read(d.T, filepath.Join(d.dir, "deb/Packages.gz")))
			d.answers["/deb/Packages.gz"] = http.RedirectHandler("/cdn/list", http.StatusFound).ServeHTTP
		},
		"without compression":    func(d *debs) { d.remove("deb/Packages.gz"); d.sign() },
		"valid for another day":  func(d *debs) { d.sign("-o", "APT::FTPArchive::Release::ValidTime=86400") },
		"the key is valid today": func(d *debs) { d.expiring() },
		"an unusable package that is not wanted": func(d *debs) {
			d.edit("deb/Packages", "\nSHA256: ", "\nSHA257: ", 1)
			d.remove("deb/Packages.gz")
			d.sign()
		},
	} {
		t.Run(situation, func(t *testing.T) {
			t.Parallel()
			d := good.copy(t)
			arrange(d)
			got, err := d.repo.Debs(t.Context(), names)
			want := []string{"kubeadm 1.36.2-1.1 amd64", "kubeadm 1.36.3-1.1 amd64", "kubeadm 1.36.3-1.1 arm64", "kubelet 1.36.3-1.1 amd64"}
			if err != nil || !slices.Equal(versions(got), want) {
				t.Errorf("%v %v", versions(got), err)
			}
			sameFiles(t, d.server, got)
		})
	}
}

func (d *debs) remove(path string) {
	d.Helper()
	if err := os.Remove(filepath.Join(d.dir, path)); err != nil {
		d.Fatal(err)
	}
}

// edit changes a file of the repository without signing it again.
func (d *debs) edit(path, from, to string, times int) {
	d.Helper()
	path = filepath.Join(d.dir, path)
	before := read(d.T, path)
	after := bytes.Replace(before, []byte(from), []byte(to), times)
	if bytes.Equal(before, after) {
		d.Fatalf("%s does not contain %q", path, from)
	}
	write(d.T, path, after)
}

func TestDebsThatAreNotProven(t *testing.T) {
	t.Parallel()
	good := newDebs(t)
	inRelease, list := read(t, filepath.Join(good.dir, "deb/InRelease")), read(t, filepath.Join(good.dir, "deb/Packages.gz"))
	for situation, c := range map[string]struct {
		arrange func(d *debs)
		want    string
	}{
		"another key": {func(d *debs) {
			d.signer = newSigner(d.T, 0)
			write(d.T, filepath.Join(d.dir, "deb/Release.key"), d.signer.key())
			d.sign()
		}, "is pinned"},
		"another key behind the pinned one": {func(d *debs) { d.signer = newSigner(d.T, 0); d.sign() }, "not signed with the pinned key"},
		"an expired key":                    {func(d *debs) { d.expiring(); d.repo.Now = in(72 * time.Hour) }, "has expired"},
		"a key from the future":             {func(d *debs) { d.repo.Now = in(-72 * time.Hour) }, "cannot prove"},
		"expired metadata": {func(d *debs) {
			d.sign("-o", "APT::FTPArchive::Release::ValidTime=3600")
			d.repo.Now = in(2 * time.Hour)
		}, "the metadata has expired"},
		"SHA-1": {func(d *debs) {
			d.signer.gpg("--digest-algo", "SHA1", "--output", filepath.Join(d.dir, "deb/InRelease"), "--clearsign", d.release())
		}, "hash"},
		"unsigned": {func(d *debs) {
			write(d.T, filepath.Join(d.dir, "deb/InRelease"), read(d.T, d.release()))
		}, "not one signed text"},
		"a digest is changed": {func(d *debs) { d.edit("deb/InRelease", "Packages.gz", "Packages.gx", -1) }, "the signature is invalid"},
		"text before the signed": {func(d *debs) {
			write(d.T, filepath.Join(d.dir, "deb/InRelease"), append([]byte("SHA256:\n"), inRelease...))
		}, "not one signed text"},
		"text behind the signed": {func(d *debs) {
			write(d.T, filepath.Join(d.dir, "deb/InRelease"), append(slices.Clone(inRelease), "x\n"...))
		}, "not one signed text"},
		"another list": {func(d *debs) { d.answers["/deb/Packages.gz"] = content(list[:len(list)-1]) }, "the signed metadata names"},
		"another list, same size": {func(d *debs) {
			d.answers["/deb/Packages.gz"] = content(append(list[:len(list)-1:len(list)-1], ^list[len(list)-1]))
		}, "its digest differs"},
		"a truncated list":      {func(d *debs) { d.answers["/deb/Packages.gz"] = cut(list) }, "unexpected EOF"},
		"a truncated InRelease": {func(d *debs) { d.answers["/deb/InRelease"] = cut(inRelease) }, "unexpected EOF"},
		"a cut InRelease":       {func(d *debs) { d.answers["/deb/InRelease"] = content(inRelease[:len(inRelease)-40]) }, "cannot prove"},
		"an endless InRelease":  {func(d *debs) { d.answers["/deb/InRelease"] = endless }, "is larger than"},
		"an endless list":       {func(d *debs) { d.answers["/deb/Packages.gz"] = endless }, "is larger than"},
		"an endless key":        {func(d *debs) { d.answers["/deb/Release.key"] = endless }, "is larger than"},
		"a list that explodes": {func(d *debs) {
			write(d.T, filepath.Join(d.dir, "deb/Packages.gz"), zipped(d.T, make([]byte, maxMetadata+1)))
			d.sign()
		}, "is larger than"},
		"redirects without an end": {func(d *debs) {
			d.answers["/deb/InRelease"] = http.RedirectHandler("/deb/InRelease", http.StatusFound).ServeHTTP
		}, "too many redirects"},
		"a page instead of the key": {func(d *debs) { d.answers["/deb/Release.key"] = content([]byte("<html>")) }, "cannot read the key"},
		"no list":                   {func(d *debs) { d.remove("deb/Packages"); d.remove("deb/Packages.gz"); d.sign() }, "not a flat repository"},
		"missing":                   {func(d *debs) { d.remove("deb/InRelease") }, "status 404"},
		"a path out of it":          {func(d *debs) { d.relist("Filename: ./amd64/", "Filename: ../../../") }, "leads out of the repository"},
		"a field twice":             {func(d *debs) { d.relist("Version: ", "Version: 9\nVersion: ") }, "occurs twice"},
		"a package without digest":  {func(d *debs) { d.relist("\nSHA256: ", "\nSHA257: ") }, "no SHA-256 digest"},
		"a package without a size":  {func(d *debs) { d.relist("\nSize: ", "\nSize: -") }, "invalid size"},
	} {
		t.Run(situation, func(t *testing.T) {
			t.Parallel()
			d := good.copy(t)
			c.arrange(d)
			got, err := d.repo.Debs(t.Context(), names)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v %v, want %q in it", versions(got), err, c.want)
			}
		})
	}
}

// copy returns the same repository on a server of its own.
func (d *debs) copy(t *testing.T) *debs {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(d.dir)); err != nil {
		t.Fatal(err)
	}
	out := &debs{T: t, server: newServer(t, dir), signer: &signer{t: t, home: d.signer.home, fingerprint: d.signer.fingerprint}}
	out.repo = &Repository{URL: out.URL + "/deb/", Keys: d.repo.Keys}
	return out
}

// relist changes the list of packages and signs it.
func (d *debs) relist(from, to string) {
	d.Helper()
	d.edit("deb/Packages", from, to, -1)
	d.remove("deb/Packages.gz")
	d.sign()
}

// expiring signs with a key that expires tomorrow.
func (d *debs) expiring() {
	d.Helper()
	d.signer = newSigner(d.T, 1)
	d.repo.Keys = []string{d.signer.fingerprint}
	write(d.T, filepath.Join(d.dir, "deb/Release.key"), d.signer.key())
	d.sign()
}

func TestUnprovenDebsAreDistinguished(t *testing.T) {
	t.Parallel()
	d := newDebs(t)
	d.repo.Keys = []string{KubernetesKey}
	_, err := d.repo.Debs(t.Context(), names)
	if _, ok := errors.AsType[*UnprovenError](err); !ok {
		t.Errorf("%v", err)
	}
	d.Close()
	_, err = d.repo.Debs(t.Context(), names)
	if _, ok := errors.AsType[*UnprovenError](err); ok || err == nil {
		t.Errorf("%v", err)
	}
}
