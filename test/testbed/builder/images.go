package builder

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/refit-dev/refit/test/testbed/versions"
)

// imagesFormat is incremented when the content of the images changes in code, which is not part of
// the key.
const imagesFormat = "1"

// images are the container images of a release, one archive each.
type images struct {
	release versions.Release

	debian, kubernetes, etcd, coredns, pause recipe
}

func (i images) component() string    { return "images" }
func (i images) version() string      { return i.release.Kubernetes }
func (images) usually() time.Duration { return 10 * time.Second }

func (i images) needs() []recipe {
	return []recipe{i.debian, i.kubernetes, i.etcd, i.coredns, i.pause}
}

func (i images) inputs() []string {
	inputs := append([]string{imagesFormat, imagePath, netBindService, versions.BusyboxImage}, i.release.KubeadmImages()...)
	for _, file := range baseFiles() {
		inputs = append(inputs, file.path, string(file.content))
	}
	return append(append(inputs, proxyCommands...), busyboxFor...)
}

func (i images) build(_ context.Context, shop *workshop, dir string) error {
	list, err := i.list(shop)
	if err != nil {
		return err
	}
	for _, image := range list {
		if err := image.write(filepath.Join(dir, archiveName(image.name))); err != nil {
			return err
		}
	}
	return nil
}

// list returns every image of the release.
func (i images) list(shop *workshop) ([]image, error) {
	r, bin := i.release, filepath.Join(shop.of(i.kubernetes), "bin")
	proxy, err := proxyImage(r, filepath.Join(bin, "kube-proxy"), filepath.Join(shop.of(i.debian), "root"))
	if err != nil {
		return nil, err
	}
	busybox, err := busyboxImage(shop.of(i.debian))
	if err != nil {
		return nil, err
	}
	return []image{
		binaryImage(versions.Registry+"/kube-apiserver:"+r.Kubernetes, bin, "kube-apiserver"),
		binaryImage(versions.Registry+"/kube-controller-manager:"+r.Kubernetes, bin, "kube-controller-manager"),
		binaryImage(versions.Registry+"/kube-scheduler:"+r.Kubernetes, bin, "kube-scheduler"),
		proxy,
		binaryImage(versions.Registry+"/etcd:"+r.EtcdImageTag, filepath.Join(shop.of(i.etcd), "bin"), "etcd", "etcdctl", "etcdutl"),
		corednsImage(r, filepath.Join(shop.of(i.coredns), "bin", "coredns")),
		pauseImage(r, filepath.Join(shop.of(i.pause), "bin", "pause")),
		busybox,
	}, nil
}

// archives returns the files of the finished entry.
func (i images) archives(entry string) []string {
	var paths []string
	for _, name := range append(i.release.KubeadmImages(), versions.BusyboxImage) {
		paths = append(paths, filepath.Join(entry, archiveName(name)))
	}
	return paths
}

// archiveName returns the file name of an image: etcd-3.6.8-0.tar.
func archiveName(image string) string {
	return strings.ReplaceAll(path.Base(image), ":", "-") + ".tar"
}

// binaryImage has static binaries in /usr/local/bin; the first is the entrypoint.
func binaryImage(name, bin string, binaries ...string) image {
	img := image{name: name, entrypoint: []string{"/usr/local/bin/" + binaries[0]}}
	for _, binary := range binaries {
		img.files = append(img.files, layerFile{
			path: "/usr/local/bin/" + binary, mode: 0o755, source: filepath.Join(bin, binary),
		})
	}
	return img
}

// netBindService is the xattr of a file that may bind ports below 1024: revision 2, effective,
// permitted = CAP_NET_BIND_SERVICE (bit 10), little endian.
const netBindService = "\x01\x00\x00\x02" + "\x00\x04\x00\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00"

// corednsImage runs as an unprivileged user, like upstream's. kubeadm's Deployment grants only
// CAP_NET_BIND_SERVICE, which a non-root user gets only through the capability of the file.
func corednsImage(r versions.Release, binary string) image {
	return image{
		name:       fmt.Sprintf("%s/coredns/coredns:%s", versions.Registry, r.CoreDNS),
		entrypoint: []string{"/coredns"},
		user:       "65532:65532",
		files: []layerFile{{
			path: "/coredns", mode: 0o755, source: binary,
			xattrs: map[string]string{"security.capability": netBindService},
		}},
	}
}

func pauseImage(r versions.Release, binary string) image {
	return image{
		name: r.PauseImage(), entrypoint: []string{"/pause"}, user: "65535:65535",
		files: []layerFile{{path: "/pause", mode: 0o755, source: binary}},
	}
}
