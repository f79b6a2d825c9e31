package artifact

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func blobOf(content []byte, path string) refitv1alpha1.Blob {
	sum := sha256.Sum256(content)
	return refitv1alpha1.Blob{Digest: "sha256:" + hex.EncodeToString(sum[:]), Size: int64(len(content)), Path: path}
}

// payload is a small valid payload.
func payload() refitv1alpha1.ReleasePayload {
	file := func(part refitv1alpha1.Part, name string, kind refitv1alpha1.PackageKind, version string) refitv1alpha1.ReleaseFile {
		return refitv1alpha1.ReleaseFile{
			Part: part, Name: name, Kind: kind, OS: "linux", Arch: "amd64", Version: version, Blob: blobOf([]byte(name+string(kind)), "bin/"+name),
		}
	}
	archive := blobOf([]byte("an archive"), "images/etcd.tar")
	archive.URLs = []string{"https://mirror.example/images/etcd.tar"}
	return refitv1alpha1.ReleasePayload{
		Kubernetes: "v1.36.3", Etcd: "3.6.8-0", Containerd: "2.4.2",
		Files: []refitv1alpha1.ReleaseFile{
			file(refitv1alpha1.PartKubeadm, "kubeadm", refitv1alpha1.PackageBinary, "v1.36.3"),
			file(refitv1alpha1.PartKubeadm, "kubeadm", refitv1alpha1.PackageDeb, "1.36.3-1.1"),
			file(refitv1alpha1.PartContainerd, "containerd", refitv1alpha1.PackageBinary, "v2.4.2"),
			file(refitv1alpha1.PartContainerd, "ctr", refitv1alpha1.PackageBinary, "v2.4.2"),
			file(refitv1alpha1.PartContainerd, "containerd.io", refitv1alpha1.PackageDeb, "1:2.4.2~ds1-1+deb12u3"),
		},
		Images: []refitv1alpha1.ReleaseImage{
			{Name: "registry.k8s.io/etcd:3.6.8-0", OS: "linux", Arch: "amd64", ControlPlane: true, Config: blobOf([]byte("c"), "").Digest, Archive: &archive},
			{Name: "localhost:5000/kube-proxy:v1.36.3", OS: "linux", Arch: "amd64", Config: blobOf([]byte("d"), "").Digest},
		},
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestValidPayload(t *testing.T) {
	if err := ValidatePayload(payload()); err != nil {
		t.Error(err)
	}
	if err := ValidatePayload(refitv1alpha1.ReleasePayload{Kubernetes: "v1.36.3"}); err != nil {
		t.Errorf("a ClusterRelease with nothing but a version: %v", err)
	}
}

func TestInvalidPayloadsAreRefused(t *testing.T) {
	type change = func(p *refitv1alpha1.ReleasePayload)
	for name, c := range map[string]struct {
		change change
		want   string
	}{
		"no version":                         {func(p *refitv1alpha1.ReleasePayload) { p.Kubernetes = "" }, "kubernetes"},
		"shell in a version":                 {func(p *refitv1alpha1.ReleasePayload) { p.Kubernetes = "v1.36.3;reboot" }, "not a version like"},
		"pre-release":                        {func(p *refitv1alpha1.ReleasePayload) { p.Kubernetes = "v1.36.3-rc.1" }, "not a version like"},
		"newline after a version":            {func(p *refitv1alpha1.ReleasePayload) { p.Kubernetes = "v1.36.3\n" }, "not a version like"},
		"version of etcd":                    {func(p *refitv1alpha1.ReleasePayload) { p.Etcd = "latest" }, "etcd"},
		"unknown part":                       {func(p *refitv1alpha1.ReleasePayload) { p.Files[0].Part = "kernel" }, "not a part of a host"},
		"binary of another part":             {func(p *refitv1alpha1.ReleasePayload) { p.Files[0].Name = "bash" }, "not a binary of kubeadm"},
		"package of another part":            {func(p *refitv1alpha1.ReleasePayload) { p.Files[1].Name = "bash" }, "not a package of kubeadm"},
		"name with a slash":                  {func(p *refitv1alpha1.ReleasePayload) { p.Files[0].Name = "../kubeadm" }, "not the name"},
		"name that looks like a flag":        {func(p *refitv1alpha1.ReleasePayload) { p.Files[0].Name = "--kubeadm" }, "not the name"},
		"unknown kind":                       {func(p *refitv1alpha1.ReleasePayload) { p.Files[0].Kind = "Script" }, "not a kind of package"},
		"unknown platform":                   {func(p *refitv1alpha1.ReleasePayload) { p.Files[0].Arch = "z80" }, "not a supported platform"},
		"file of another version":            {func(p *refitv1alpha1.ReleasePayload) { p.Files[0].Version = "v1.36.2" }, "the ClusterRelease claims"},
		"pre-release of a binary":            {func(p *refitv1alpha1.ReleasePayload) { p.Files[2].Version = "v2.4.2-rc.1" }, "the ClusterRelease claims"},
		"package of another version":         {func(p *refitv1alpha1.ReleasePayload) { p.Files[1].Version = "1.36.4-1.1" }, "the ClusterRelease claims"},
		"package version with a flag":        {func(p *refitv1alpha1.ReleasePayload) { p.Files[1].Version = "-o x" }, "not a version"},
		"part that is not claimed":           {func(p *refitv1alpha1.ReleasePayload) { p.Containerd = "" }, "claims no version of"},
		"claim without a file":               {func(p *refitv1alpha1.ReleasePayload) { p.Runc = "1.4.0" }, "no file of it"},
		"the same file twice":                {func(p *refitv1alpha1.ReleasePayload) { p.Files = append(p.Files, p.Files[0]) }, "duplicate"},
		"digest of another kind":             {func(p *refitv1alpha1.ReleasePayload) { p.Files[0].Digest = "md5:1" }, "digest"},
		"digest in capitals":                 {func(p *refitv1alpha1.ReleasePayload) { p.Files[0].Digest = strings.ToUpper(p.Files[0].Digest) }, "digest"},
		"digest that is a path":              {func(p *refitv1alpha1.ReleasePayload) { p.Files[0].Digest = "sha256:../../../etc/passwd" }, "digest"},
		"empty file":                         {func(p *refitv1alpha1.ReleasePayload) { p.Files[0].Size = 0 }, "invalid size"},
		"negative size":                      {func(p *refitv1alpha1.ReleasePayload) { p.Files[0].Size = -1 }, "invalid size"},
		"huge file":                          {func(p *refitv1alpha1.ReleasePayload) { p.Files[0].Size = MaxBlob + 1 }, "invalid size"},
		"one digest, two sizes":              {func(p *refitv1alpha1.ReleasePayload) { p.Files[1].Blob, p.Files[1].Size = p.Files[0].Blob, 1 }, "two sizes"},
		"path out of its folder":             {func(p *refitv1alpha1.ReleasePayload) { p.Files[0].Path = "../../etc/passwd" }, "path"},
		"path out of its folder by a detour": {func(p *refitv1alpha1.ReleasePayload) { p.Files[0].Path = "a/../../b" }, "path"},
		"absolute path":                      {func(p *refitv1alpha1.ReleasePayload) { p.Files[0].Path = "/etc/passwd" }, "path"},
		"path that is not clean":             {func(p *refitv1alpha1.ReleasePayload) { p.Files[0].Path = "a//b" }, "path"},
		"path with a control character":      {func(p *refitv1alpha1.ReleasePayload) { p.Files[0].Path = "a\x1b[2Jb" }, "path"},
		"path with a query":                  {func(p *refitv1alpha1.ReleasePayload) { p.Files[0].Path = "a?b" }, "path"},
		"URL of a file":                      {func(p *refitv1alpha1.ReleasePayload) { p.Files[0].URLs = []string{"file:///etc/passwd"} }, "URL"},
		"URL with a password":                {func(p *refitv1alpha1.ReleasePayload) { p.Files[0].URLs = []string{"https://a:b@c/d"} }, "URL"},
		"URL without a host":                 {func(p *refitv1alpha1.ReleasePayload) { p.Files[0].URLs = []string{"https:///d"} }, "URL"},
		"URL with a newline":                 {func(p *refitv1alpha1.ReleasePayload) { p.Files[0].URLs = []string{"https://a/b\r\nc"} }, "URL"},
		"many URLs":                          {func(p *refitv1alpha1.ReleasePayload) { p.Files[0].URLs = make([]string, 9) }, "URLs are more"},
		"image without a tag":                {func(p *refitv1alpha1.ReleasePayload) { p.Images[0].Name = "registry.k8s.io/etcd" }, "not a full image name"},
		"image without a registry":           {func(p *refitv1alpha1.ReleasePayload) { p.Images[0].Name = "etcd:3.6.8-0" }, "not a full image name"},
		"image with a newline":               {func(p *refitv1alpha1.ReleasePayload) { p.Images[0].Name += "\n" }, "not a full image name"},
		"image of another version":           {func(p *refitv1alpha1.ReleasePayload) { p.Images[0].Name = "registry.k8s.io/etcd:3.5.0-0" }, "claims"},
		"image that is not claimed":          {func(p *refitv1alpha1.ReleasePayload) { p.Etcd = "" }, "claims"},
		"image without a config":             {func(p *refitv1alpha1.ReleasePayload) { p.Images[0].Config = "" }, "config"},
		"image for no platform":              {func(p *refitv1alpha1.ReleasePayload) { p.Images[0].OS = "plan9" }, "not a supported platform"},
		"image twice":                        {func(p *refitv1alpha1.ReleasePayload) { p.Images = append(p.Images, p.Images[0]) }, "duplicate"},
		"image with a bad archive":           {func(p *refitv1alpha1.ReleasePayload) { p.Images[0].Archive.Path = ".." }, "path"},
		"too many files":                     {func(p *refitv1alpha1.ReleasePayload) { p.Files = make([]refitv1alpha1.ReleaseFile, maxFiles+1) }, "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			p := payload()
			c.change(&p)
			err := ValidatePayload(p)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q in it", err, c.want)
			}
			if err != nil && strings.ContainsAny(err.Error(), "\x1b\n\r") {
				t.Errorf("the error contains control characters: %q", err)
			}
		})
	}
}

func TestInvalidArchivesAreRefused(t *testing.T) {
	if err := ValidatePayload(withArchive(t)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(f *refitv1alpha1.ReleaseFile)
		want   string
	}{
		"no member":                   {func(f *refitv1alpha1.ReleaseFile) { f.Archive.Member = "" }, "not the path"},
		"member out of the archive":   {func(f *refitv1alpha1.ReleaseFile) { f.Archive.Member = "../containerd" }, "not the path"},
		"absolute member":             {func(f *refitv1alpha1.ReleaseFile) { f.Archive.Member = "/bin/containerd" }, "not the path"},
		"member that is not clean":    {func(f *refitv1alpha1.ReleaseFile) { f.Archive.Member = "./bin/containerd" }, "not the path"},
		"member of another name":      {func(f *refitv1alpha1.ReleaseFile) { f.Archive.Member = "bin/ctr" }, "not the path"},
		"member with a newline":       {func(f *refitv1alpha1.ReleaseFile) { f.Archive.Member = "bin\n/containerd" }, "not the path"},
		"another place of the file":   {func(f *refitv1alpha1.ReleaseFile) { f.Path = "bin/containerd" }, "no path and no URLs"},
		"another address of the file": {func(f *refitv1alpha1.ReleaseFile) { f.URLs = []string{"https://mirror.example/containerd"} }, "no path and no URLs"},
		"archive of no digest":        {func(f *refitv1alpha1.ReleaseFile) { f.Archive.Digest = "" }, "digest"},
		"archive that is the file":    {func(f *refitv1alpha1.ReleaseFile) { f.Archive.Blob = f.Blob }, "the digest of the binary"},
		"empty archive":               {func(f *refitv1alpha1.ReleaseFile) { f.Archive.Size = 0 }, "invalid size"},
		"path of the archive":         {func(f *refitv1alpha1.ReleaseFile) { f.Archive.Path = "../x" }, "path"},
		"file without a size":         {func(f *refitv1alpha1.ReleaseFile) { f.Size = 0 }, "invalid size"},
		"package in an archive":       {func(f *refitv1alpha1.ReleaseFile) { f.Kind, f.Version = refitv1alpha1.PackageDeb, "2.4.2-1" }, "cannot be in an archive"},
	} {
		t.Run(name, func(t *testing.T) {
			p := withArchive(t)
			c.change(&p.Files[2])
			if err := ValidatePayload(p); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q in it", err, c.want)
			}
		})
	}
}

func TestUpstreamVersion(t *testing.T) {
	for in, want := range map[string]string{
		"v1.36.3": "1.36.3", "1.36.3-1.1": "1.36.3", "1.6.20~ds1-1+deb12u3": "1.6.20", "2:1.1.5+ds1-1": "1.1.5", "2.4.2": "2.4.2", "1.7.28~ds1": "1.7.28", "v1.7.28": "1.7.28",
	} {
		if got := UpstreamVersion(in); got != want {
			t.Errorf("the upstream version of %s is %s, want %s", in, got, want)
		}
	}
}
