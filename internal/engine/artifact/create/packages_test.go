package create

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// packages publishes repositories of deb and rpm packages. The tests of package upstream build them
// with the tools of upstream.
type packages struct {
	t   *testing.T
	u   *publisher
	key *openpgp.Entity
}

var published = []string{"kubeadm 1.36.3-1.1", "kubeadm 1.36.3-10.1", "kubeadm 1.36.2-1.1", "kubelet 1.36.2-1.1", "kubelet 1.36.3-1.1", "kubectl 1.36.3-1.1", "kubernetes-cni 1.9.1-1.1"}

func newPackages(t *testing.T, u *publisher) *packages {
	t.Helper()
	key, err := openpgp.NewEntity("Packages", "", "packages@example.com", nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &packages{t: t, u: u, key: key}
	p.debs()
	p.rpms()
	return p
}

func (p *packages) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *packages) publicKey() []byte {
	p.t.Helper()
	var out bytes.Buffer
	w, err := armor.Encode(&out, openpgp.PublicKeyType, nil)
	p.must(err)
	p.must(p.key.Serialize(w))
	p.must(w.Close())
	return out.Bytes()
}

func hexOf(content []byte) string { return strings.TrimPrefix(digestOf(content), "sha256:") }

func (p *packages) debs() {
	p.t.Helper()
	const base = "/packages/v1.36/deb/"
	var list bytes.Buffer
	for _, text := range published {
		name, version, _ := strings.Cut(text, " ")
		fmt.Fprintf(&list, "Package: %s\nVersion: %s\nArchitecture: %s\nFilename: ./%s.deb\nSize: %d\nSHA256: %s\n\n",
			name, version, arch, name, len(text), hexOf([]byte(text)))
	}
	var signed bytes.Buffer
	w, err := clearsign.Encode(&signed, p.key.PrivateKey, nil)
	p.must(err)
	_, err = fmt.Fprintf(w, "Origin: x\nSHA256:\n %s %d Packages\n", hexOf(list.Bytes()), list.Len())
	p.must(err)
	p.must(w.Close())
	p.u.files[base+"Packages"], p.u.files[base+"InRelease"], p.u.files[base+"Release.key"] = list.Bytes(), signed.Bytes(), p.publicKey()
}

func (p *packages) rpms() {
	p.t.Helper()
	const base = "/packages/v1.36/rpm/repodata/"
	rpmArch := arch // both have the same name of it
	var list, signature bytes.Buffer
	list.WriteString("<metadata>")
	for _, text := range published {
		name, full, _ := strings.Cut(text, " ")
		version, release, _ := strings.Cut(full, "-")
		fmt.Fprintf(&list, `<package type="rpm"><name>%s</name><arch>%s</arch><version epoch="0" ver="%s" rel="%s"/>`+
			`<checksum type="sha256">%s</checksum><size package="%d"/><location href="%s.rpm"/></package>`,
			name, rpmArch, version, release, hexOf([]byte(text)), len(text), name)
	}
	list.WriteString("</metadata>")
	metadata := fmt.Appendf(nil, `<repomd><data type="primary"><checksum type="sha256">%s</checksum><location href="repodata/primary.xml"/><size>%d</size></data></repomd>`,
		hexOf(list.Bytes()), list.Len())
	p.must(openpgp.ArmoredDetachSign(&signature, p.key, bytes.NewReader(metadata), nil))
	p.u.files[base+"primary.xml"], p.u.files[base+"repomd.xml"] = list.Bytes(), metadata
	p.u.files[base+"repomd.xml.asc"], p.u.files[base+"repomd.xml.key"] = signature.Bytes(), p.publicKey()
}

func (p *packages) options(kinds ...refitv1alpha1.PackageKind) Options {
	o := p.u.options()
	o.Online.Packages, o.Online.Kinds = p.u.URL+"/packages", kinds
	o.Online.PackageKeys = []string{hex.EncodeToString(p.key.PrimaryKey.Fingerprint)}
	return o
}

func TestPackagesFromUpstream(t *testing.T) {
	p := newPackages(t, newUpstream(t))
	for situation, c := range map[string]struct {
		kinds []refitv1alpha1.PackageKind
		cni   string
		want  []string
	}{
		"deb":              {[]refitv1alpha1.PackageKind{refitv1alpha1.PackageDeb}, "", []string{"Deb kubeadm 1.36.3-10.1", "Deb kubectl 1.36.3-1.1", "Deb kubelet 1.36.3-1.1"}},
		"rpm":              {[]refitv1alpha1.PackageKind{refitv1alpha1.PackageRpm}, "", []string{"Rpm kubeadm 1.36.3-10.1", "Rpm kubectl 1.36.3-1.1", "Rpm kubelet 1.36.3-1.1"}},
		"with the CNI":     {[]refitv1alpha1.PackageKind{refitv1alpha1.PackageDeb}, "1.9.1", []string{"Deb kubernetes-cni 1.9.1-1.1", "Deb kubeadm 1.36.3-10.1", "Deb kubectl 1.36.3-1.1", "Deb kubelet 1.36.3-1.1"}},
		"of all kinds":     {slices.Clone(kinds), "", nil},
		"none is binary":   {nil, "", []string{"Binary kubeadm v1.36.3", "Binary kubectl v1.36.3", "Binary kubelet v1.36.3"}},
		"binaries by name": {[]refitv1alpha1.PackageKind{refitv1alpha1.PackageBinary}, "", []string{"Binary kubeadm v1.36.3", "Binary kubectl v1.36.3", "Binary kubelet v1.36.3"}},
	} {
		t.Run(situation, func(t *testing.T) {
			o := p.options(c.kinds...)
			o.CNIPlugins = c.cni
			result, err := Payload(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range result.Payload.Files {
				got = append(got, fmt.Sprintf("%s %s %s", f.Kind, f.Name, f.Version))
				if f.Kind != refitv1alpha1.PackageBinary && f.Digest != digestOf([]byte(f.Name+" "+f.Version)) {
					t.Errorf("%+v", f)
				}
			}
			slices.Sort(got)
			slices.Sort(c.want)
			if c.want != nil && !slices.Equal(got, c.want) || c.want == nil && len(got) != 9 {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// The kubelet of a host does not determine how its other parts are installed.
func TestPackagesOfHostsWithABinaryKubelet(t *testing.T) {
	binary, both := []refitv1alpha1.PackageKind{refitv1alpha1.PackageBinary}, []refitv1alpha1.PackageKind{refitv1alpha1.PackageBinary, refitv1alpha1.PackageDeb}
	p := newPackages(t, newUpstream(t))
	o := p.options(refitv1alpha1.PackageBinary)
	o.CNIPlugins, o.Online.PartKinds = "1.9.1", map[refitv1alpha1.Part][]refitv1alpha1.PackageKind{
		refitv1alpha1.PartKubeadm: binary, refitv1alpha1.PartKubelet: binary, refitv1alpha1.PartKubectl: both, refitv1alpha1.PartCNI: {refitv1alpha1.PackageDeb},
	}
	result, err := Payload(t.Context(), o)
	var got []string
	for _, f := range result.Payload.Files {
		got = append(got, string(f.Kind)+" "+f.Name)
	}
	if want := []string{"Binary kubeadm", "Binary kubectl", "Binary kubelet", "Deb kubernetes-cni", "Deb kubectl"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q %v, want %q", got, err, want)
	}
}

func TestPackagesThatUpstreamDoesNotProve(t *testing.T) {
	deb := []refitv1alpha1.PackageKind{refitv1alpha1.PackageDeb}
	for situation, c := range map[string]struct {
		arrange func(p *packages, o *Options)
		want    string
	}{
		"the key of the Kubernetes project is the default": {func(_ *packages, o *Options) { o.Online.PackageKeys = nil }, "DE15B14486CD377B9E876E1A234654DA9A296436 is pinned"},
		"a key ID instead of a fingerprint":                {func(_ *packages, o *Options) { o.Online.PackageKeys = []string{"234654DA9A296436"} }, "is not the fingerprint"},
		"another list": {func(p *packages, _ *Options) {
			path := "/packages/v1.36/deb/Packages"
			p.u.files[path] = bytes.ToLower(p.u.files[path])
		}, "its digest differs"},
		"another architecture":     {func(_ *packages, o *Options) { o.Online.Archs = []string{"s390x"} }, "has no kubeadm 1.36.3 for s390x"},
		"another version":          {func(_ *packages, o *Options) { o.Kubernetes = "v1.36.9" }, "has no kubeadm 1.36.9"},
		"another minor version":    {func(_ *packages, o *Options) { o.Kubernetes = "v1.35.4" }, "status 404"},
		"another version of CNI":   {func(_ *packages, o *Options) { o.CNIPlugins = "1.9.9" }, "has no kubernetes-cni 1.9.9"},
		"runc is only in binaries": {func(_ *packages, o *Options) { o.Runc = "1.4.0" }, "no runc 1.4.0 found in the directories"},
		"a kind that is not one":   {func(_ *packages, o *Options) { o.Online.Kinds = []refitv1alpha1.PackageKind{"Snap"} }, "is not a kind of files"},
		"plugins that no host has": {func(_ *packages, o *Options) {
			o.CNIPlugins, o.Online.PartKinds = "1.9.1", map[refitv1alpha1.Part][]refitv1alpha1.PackageKind{refitv1alpha1.PartCNI: nil}
		}, "no cni 1.9.1 found in the directories"},
		"the images are missing":    {func(p *packages, _ *Options) { delete(p.u.files, "/v2/mirror/etcd/manifests/3.6.8-0") }, "status 404"},
		"the repository is missing": {func(_ *packages, o *Options) { o.Online.Packages = "http://127.0.0.1:1" }, "cannot reach"},
	} {
		t.Run(situation, func(t *testing.T) {
			p := newPackages(t, newUpstream(t))
			o := p.options(deb...)
			c.arrange(p, &o)
			if _, err := Payload(t.Context(), o); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q in it", err, c.want)
			}
		})
	}
}

// The key of upstream signs pre-releases, too, in other repositories that a mirror can serve.
func TestPreReleaseIsNotTheRelease(t *testing.T) {
	before := published
	t.Cleanup(func() { published = before })
	published = []string{"kubeadm 1.36.3~rc.1-1.1", "kubelet 1.36.3-1.1", "kubelet 1.36.4~rc.1-1.1", "kubectl 1.36.3-1.1"}
	p := newPackages(t, newUpstream(t))
	for _, kind := range []refitv1alpha1.PackageKind{refitv1alpha1.PackageDeb, refitv1alpha1.PackageRpm} {
		if _, err := Payload(t.Context(), p.options(kind)); err == nil || !strings.Contains(err.Error(), "has no kubeadm 1.36.3") {
			t.Errorf("%s: %v", kind, err)
		}
		if newest, err := p.options(kind).Online.Newest(t.Context(), "1.36", nil); newest != "v1.36.3" || err != nil {
			t.Errorf("%s: the newest is %s, %v", kind, newest, err)
		}
	}
	for version, same := range map[string]bool{
		"1.36.3-1.1": true, "1:1.36.3-1.1": true, "1.36.3+vendor1-1": true, "1.36.3-1.1~bpo1": true, "1.36.3~rc.1-1.1": false, "1.36.3~alpha.2": false,
		"1.36.3^20260101-1": false, "1.36.30-1": false,
	} {
		if sameRelease(refitv1alpha1.PartKubelet, version, "v1.36.3") != same {
			t.Errorf("%s: want %v", version, same)
		}
	}
	if !sameRelease(refitv1alpha1.PartContainerd, "1.6.20~ds1-1+b1", "1.6.20") {
		t.Error("Debian's containerd is not accepted")
	}
}

func TestLatestRevision(t *testing.T) {
	for _, c := range []struct {
		lower, higher string
	}{
		{"1.36.3-1.1", "1.36.3-1.2"},
		{"1.36.3-9.1", "1.36.3-10.1"},
		{"1.36.3-1", "1.36.3-1.1"},
		{"1.36.3-150500.1.1", "1.36.3-150500.2.1"},
		{"1.36.3-08", "1.36.3-9"},
		{"1.36.3-9.9", "1:1.36.3-1.1"},
		{"0:1.36.3-1.1", "1.36.3-1.2"},
		{"9:1.36.3-1", "10:1.36.3-1"},
		{"1.36.3-1.1~bpo1", "1.36.3-1.1"},
		{"1.36.3-1.1~bpo1", "1.36.3-1.1~bpo2"},
		{"1.36.3-1.1", "1.36.3-1.1+b1"},
		{"1.36.3-1a", "1.36.3-1.1"},
		{"1.36.3~rc.1-1", "1.36.3-1"},
	} {
		if compareRevisions(c.lower, c.higher) >= 0 || compareRevisions(c.higher, c.lower) <= 0 || compareRevisions(c.lower, c.lower) != 0 {
			t.Errorf("%s is not below %s", c.lower, c.higher)
		}
	}
}
