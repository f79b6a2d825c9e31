package builder

import (
	"fmt"
	"io/fs"
	"runtime"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// imagePath contains the binaries that kubeadm's manifests call by name: kube-apiserver, etcd.
const imagePath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// An image is a container image with one layer.
type image struct {
	name       string // registry.k8s.io/etcd:3.6.8-0
	entrypoint []string
	command    []string
	user       string
	files      []layerFile
}

// baseFiles are in every image: users, name resolution, and a temporary directory.
func baseFiles() []layerFile {
	return []layerFile{
		{path: "/etc/passwd", mode: 0o644, content: []byte("root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n")},
		{path: "/etc/group", mode: 0o644, content: []byte("root:x:0:\nnonroot:x:65532:\n")},
		{path: "/etc/nsswitch.conf", mode: 0o644, content: []byte("hosts: files dns\n")},
		{path: "/tmp", mode: fs.ModeDir | fs.ModeSticky | 0o777},
	}
}

// write saves the image as an archive for `ctr images import`. The layer is not compressed:
// archives are read only on the machine that wrote them.
func (i image) write(path string) error {
	tag, err := name.NewTag(i.name)
	if err != nil {
		return fmt.Errorf("image %s: %w", i.name, err)
	}
	layer, err := layerTar(append(baseFiles(), i.files...))
	if err != nil {
		return fmt.Errorf("image %s: %w", i.name, err)
	}
	img, err := mutate.AppendLayers(empty.Image, static.NewLayer(layer, types.DockerUncompressedLayer))
	if err != nil {
		return fmt.Errorf("image %s: %w", i.name, err)
	}
	config, err := img.ConfigFile()
	if err != nil {
		return fmt.Errorf("image %s: %w", i.name, err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", runtime.GOARCH
	config.Config = v1.Config{Entrypoint: i.entrypoint, Cmd: i.command, User: i.user, Env: []string{imagePath}}
	if img, err = mutate.ConfigFile(img, config); err != nil {
		return fmt.Errorf("image %s: %w", i.name, err)
	}
	if err := tarball.WriteToFile(path, tag, img); err != nil {
		return fmt.Errorf("writing image %s: %w", i.name, err)
	}
	return nil
}
