package create

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// The archives in the layout of upstream.
const (
	containerdPath = "/containerd/v2.4.2/containerd-2.4.2-linux-" + arch + ".tar.gz"
	pluginsPath    = "/cni/v1.9.1/cni-plugins-linux-" + arch + "-v1.9.1.tgz"
)

// archived returns a gzip archive whose files have their names as content.
func archived(t *testing.T, names ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	for _, name := range names {
		header := &tar.Header{Name: name, Mode: 0o755, Size: int64(len(name))}
		if strings.HasSuffix(name, "/") {
			header.Typeflag, header.Size = tar.TypeDir, 0
		}
		if err := w.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if header.Size > 0 {
			if _, err := w.Write([]byte(name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(w.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func (u *publisher) archive(path, checksum string, content []byte) {
	u.files[path] = content
	u.files[path+checksum] = fmt.Appendf(nil, "%s  %s\n", strings.TrimPrefix(digestOf(content), "sha256:"), path[strings.LastIndex(path, "/")+1:])
}

// archives publishes containerd and the CNI plugins.
func (u *publisher) archives() {
	u.archive(containerdPath, ".sha256sum", archived(u.t, "bin/", "bin/containerd-shim-runc-v2", "bin/containerd", "bin/ctr", "bin/containerd-stress"))
	u.archive(pluginsPath, ".sha256", archived(u.t, "./", "./LICENSE", "./README.md", "./bridge", "./loopback", "./portmap", "./tuning"))
}

// accepting returns options for all parts, with the digests that upstream does not sign.
func (u *publisher) accepting() Options {
	o := u.options()
	o.Containerd, o.Runc, o.CNIPlugins = "2.4.2", "1.4.0", "v1.9.1"
	o.Online.AcceptDigests = []string{digestOf([]byte("runc")), digestOf(u.files[containerdPath]), digestOf(u.files[pluginsPath])}
	return o
}

func namesOfPart(p refitv1alpha1.ReleasePayload, part refitv1alpha1.Part) (out []string) {
	for _, f := range p.Files {
		if f.Part == part {
			out = append(out, f.Name)
		}
	}
	return out
}

func TestArchivesOfUpstream(t *testing.T) {
	u := newUpstream(t)
	u.archives()
	result, err := Payload(t.Context(), u.accepting())
	if err != nil {
		t.Fatal(err)
	}
	p := result.Payload
	if p.Version() != 2 || p.Containerd != "2.4.2" || p.CNIPlugins != "1.9.1" || p.Runc != "1.4.0" || len(result.Warnings) != 3 {
		t.Errorf("%+v %v", p, result.Warnings)
	}
	archives := map[refitv1alpha1.Part]string{refitv1alpha1.PartContainerd: containerdPath, refitv1alpha1.PartCNI: pluginsPath}
	for _, f := range p.Files {
		at, is := archives[f.Part]
		if (f.Archive != nil) != is {
			t.Errorf("%+v", f)
		}
		if !is {
			continue
		}
		a, prefix := f.Archive, map[refitv1alpha1.Part]string{refitv1alpha1.PartCNI: "./"}[f.Part]
		if a.Digest != digestOf(u.files[at]) || a.Size != int64(len(u.files[at])) || a.Path != at[1:] || !slices.Equal(a.URLs, []string{u.URL + at}) ||
			path.Base(a.Member) != f.Name || f.Digest != digestOf([]byte(prefix+a.Member)) || f.Size != int64(len(prefix+a.Member)) || f.Path != "" ||
			!strings.HasPrefix(f.Version, "v") {
			t.Errorf("%+v", f)
		}
	}
	for part, want := range map[refitv1alpha1.Part][]string{
		refitv1alpha1.PartContainerd: {"containerd", "containerd-shim-runc-v2", "ctr"}, refitv1alpha1.PartCNI: {"bridge", "loopback", "portmap", "tuning"},
	} {
		if got := namesOfPart(p, part); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", part, got, want)
		}
	}
}

// Hosts with packages of Kubernetes often have containerd from its archive.
func TestArchivesForTheHostsOfACluster(t *testing.T) {
	u := newUpstream(t)
	u.archives()
	o := u.accepting()
	o.Runc, o.Online.Plugins = "", []string{"loopback", "bridge", "vlan"}
	o.Online.PartKinds = map[refitv1alpha1.Part][]refitv1alpha1.PackageKind{
		refitv1alpha1.PartContainerd: {refitv1alpha1.PackageBinary}, refitv1alpha1.PartCNI: {refitv1alpha1.PackageBinary}, refitv1alpha1.PartRunc: nil,
	}
	result, err := Payload(t.Context(), o)
	if err != nil || !slices.Equal(namesOfPart(result.Payload, refitv1alpha1.PartCNI), []string{"bridge", "loopback"}) {
		t.Errorf("%v %v", namesOfPart(result.Payload, refitv1alpha1.PartCNI), err)
	}
	o.Runc = "1.4.0" // of which no host has a plain file
	if _, err := Payload(t.Context(), o); err == nil || !strings.Contains(err.Error(), "no runc 1.4.0 found") {
		t.Error(err)
	}
}

// Some hosts have containerd from its archive, others from packages, which upstream does not have.
func TestHostsWithOnePartOfDifferentKinds(t *testing.T) {
	part := func(part refitv1alpha1.Part, kind refitv1alpha1.PackageKind, name string) refitv1alpha1.PartFacts {
		return refitv1alpha1.PartFacts{Part: part, Kind: kind, Package: name}
	}
	host := func(name string, parts ...refitv1alpha1.PartFacts) Host {
		return Host{Name: name, Arch: arch, Parts: append(parts,
			part(refitv1alpha1.PartKubeadm, refitv1alpha1.PackageBinary, ""), part(refitv1alpha1.PartKubelet, refitv1alpha1.PackageBinary, ""))}
	}
	plain := part(refitv1alpha1.PartContainerd, refitv1alpha1.PackageBinary, "")
	vendor := part(refitv1alpha1.PartContainerd, refitv1alpha1.PackageDeb, "containerd.io")
	for situation, c := range map[string]struct {
		hosts []Host
		want  string
	}{
		"equal hosts":   {[]Host{host("a", plain), host("b", plain)}, ""},
		"a package":     {[]Host{host("a", plain), host("b", vendor)}, "no containerd of kind Deb (containerd.io) for linux/" + arch + ", which 1 host of the cluster needs (b)"},
		"some packages": {[]Host{host("a", vendor), host("b", plain), host("c", vendor)}, "which 2 hosts of the cluster need (a, c)"},
	} {
		t.Run(situation, func(t *testing.T) {
			u := newUpstream(t)
			u.archives()
			o := u.accepting()
			o.Runc, o.CNIPlugins, o.Online.Hosts = "", "", c.hosts
			_, err := Payload(t.Context(), o)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestCompiledDigests(t *testing.T) {
	for name, digest := range parseDigests(digestsText) {
		if strings.Count(name, "/") != 2 || !digestPattern.MatchString(digest) {
			t.Errorf("%s %s", digest, name)
		}
	}
	for line := range strings.Lines(digestsText) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") && len(parseDigests(line)) != 1 {
			t.Errorf("%q is not a digest with a name", line)
		}
	}
	digest := digestOf([]byte("runc"))
	m := &builder{
		Options: Options{Online: &Online{}},
		digests: parseDigests("# runc\n" + strings.TrimPrefix(digest, "sha256:") + "  runc/v1.4.0/runc.amd64\n"),
	}
	if err := m.proveUnsigned("runc/v1.4.0/runc.amd64", "https://mirror.example/runc.amd64", digest); err != nil || len(m.result.Warnings) > 0 {
		t.Errorf("%v %q", err, m.result.Warnings)
	}
	for situation, c := range map[string][2]string{
		"another version with the same digest": {"runc/v1.5.0/runc.amd64", digest},
		"another digest":                       {"runc/v1.4.0/runc.amd64", digestOf([]byte("x"))},
		"no digest":                            {"runc/v1.6.0/runc.amd64", ""},
	} {
		if err := m.proveUnsigned(c[0], "", c[1]); err == nil {
			t.Errorf("%s is accepted", situation)
		}
	}
}

func TestWrongArchives(t *testing.T) {
	for situation, c := range map[string]struct {
		arrange func(u *publisher)
		want    string
	}{
		"another archive than its checksum": {func(u *publisher) { u.files[containerdPath] = archived(u.t, "bin/containerd") }, "as its checksum claims"},
		"a checksum of another file":        {func(u *publisher) { u.files[pluginsPath+".sha256"] = []byte(strings.Repeat("0", 64) + "  other.tgz\n") }, "checksum of http"},
		"a web page as a checksum":          {func(u *publisher) { u.files[containerdPath+".sha256sum"] = []byte("<html>") }, "is invalid"},
		"no checksum":                       {func(u *publisher) { delete(u.files, pluginsPath+".sha256") }, "status 404"},
		"no archive":                        {func(u *publisher) { delete(u.files, pluginsPath) }, "status 404"},
		"no shim":                           {func(u *publisher) { u.archive(containerdPath, ".sha256sum", archived(u.t, "bin/containerd")) }, "missing: containerd-shim-runc-v2"},
		"nothing of the part":               {func(u *publisher) { u.archive(pluginsPath, ".sha256", archived(u.t, "bin/containerd")) }, "no binary of cni"},
		"a binary twice":                    {func(u *publisher) { u.archive(pluginsPath, ".sha256", archived(u.t, "bridge", "old/bridge")) }, "two files bridge"},
		"an entry that leads out":           {func(u *publisher) { u.archive(pluginsPath, ".sha256", archived(u.t, "bridge", "../../x")) }, "invalid name"},
		"not an archive":                    {func(u *publisher) { u.archive(pluginsPath, ".sha256", []byte("<html>")) }, "invalid archive"},
	} {
		t.Run(situation, func(t *testing.T) {
			u := newUpstream(t)
			u.archives()
			c.arrange(u)
			o := u.accepting()
			o.Online.AcceptDigests = append(o.Online.AcceptDigests, "sha256:"+strings.Repeat("0", 64))
			for at, suffix := range map[string]string{containerdPath: ".sha256sum", pluginsPath: ".sha256"} {
				if sum, _, ok := strings.Cut(string(u.files[at+suffix]), " "); ok && len(sum) == 64 {
					o.Online.AcceptDigests = append(o.Online.AcceptDigests, "sha256:"+sum)
				}
			}
			if _, err := Payload(t.Context(), o); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q in it", err, c.want)
			}
		})
	}
}

// TestMutatedDownloads changes archives and checksums, as a hostile mirror could. The user has
// accepted the digests of upstream: nothing else may come into a ClusterRelease.
func TestMutatedDownloads(t *testing.T) {
	const mutations = 240
	u := newUpstream(t)
	u.archives()
	o := u.accepting()
	want, err := Payload(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	paths := []string{containerdPath, pluginsPath, containerdPath + ".sha256sum", pluginsPath + ".sha256", "/runc/v1.4.0/runc.sha256sum"}
	random := rand.New(rand.NewPCG(22, 2))
	before := maps.Clone(u.files)
	accepted, inert := 0, 0
	for i := range mutations {
		at := paths[i%len(paths)]
		u.files[at] = mutatedBytes(random, before[at])
		got, err := Payload(t.Context(), o)
		u.files[at] = before[at]
		switch {
		case err != nil:
		case reflect.DeepEqual(got.Payload, want.Payload) && !slices.Contains(paths[:2], at):
			inert++ // such as a change of another line
		default:
			accepted++
			t.Errorf("mutation %d of %s was accepted", i, at)
		}
	}
	t.Logf("%d of %d mutations had no effect", inert, mutations)
	t.Logf("figure download_mutations %d mutations", mutations)
	t.Logf("figure download_mutations_accepted %d mutations", accepted)
}

func mutatedBytes(random *rand.Rand, before []byte) []byte {
	for {
		at := random.IntN(len(before))
		end := min(len(before), at+1+random.IntN(32))
		after := bytes.Clone(before)
		switch random.IntN(4) {
		case 0:
			after[at] ^= 1 << random.IntN(8)
		case 1:
			after = append(after[:at:at], before[end:]...)
		case 2:
			after = append(append(after[:end:end], before[at:end]...), before[end:]...)
		case 3:
			after = after[:at]
		}
		if !bytes.Equal(after, before) {
			return after
		}
	}
}
