package steps

import (
	"context"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/refit-dev/refit/internal/engine/cri"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// ExternalEtcdImage returns an image of etcd on this host that restores a backup of an external
// etcd of a version. A ClusterRelease has one, which a prefetch imports.
func ExternalEtcdImage(ctx context.Context, socket, running string) (string, error) {
	client, err := cri.Dial(socket)
	if err != nil {
		return "", err
	}
	defer client.Close()
	names, err := client.ImageNames(ctx)
	if err != nil {
		return "", err
	}
	if image := etcdImageFor(names, running); image != "" {
		return image, nil
	}
	return "", node.ManualIntervention("EtcdImageMissing", nil,
		"Pull an image of this version on every control plane host: `crictl pull registry.k8s.io/etcd:"+running+"-0`. "+
			"To upgrade without a proven backup, waive BackupProven",
		"no image on this host restores a backup of the external etcd %s", running)
}

// etcdImageFor returns the image with the newest patch of the running minor version. An image of
// the next minor version also reads its data, one of another does not.
func etcdImageFor(names []string, running string) string {
	now, err := version.ParseGeneric(running)
	if err != nil {
		return ""
	}
	var chosen string
	var best *version.Version
	for _, name := range names {
		repository, tag, ok := cutTag(name)
		if !ok || path.Base(repository) != "etcd" {
			continue
		}
		v, err := version.ParseGeneric(tag)
		if err != nil || v.Major() != now.Major() || v.Minor() < now.Minor() || v.Minor() > now.Minor()+1 {
			continue
		}
		if best == nil || v.Minor() < best.Minor() || v.Minor() == best.Minor() && best.LessThan(v) {
			chosen, best = name, v
		}
	}
	return chosen
}

// cutTag cuts the tag from the name of an image, whose registry may have a port.
func cutTag(name string) (repository, tag string, ok bool) {
	i := strings.LastIndex(name, ":")
	if i < 0 || strings.Contains(name[i:], "/") {
		return name, "", false
	}
	return name[:i], name[i+1:], true
}
