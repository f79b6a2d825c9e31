package kubeadm

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/upgrade/configpatch"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

const (
	coreDNS     = "coredns"
	kubeProxy   = "kube-proxy"
	objectsFile = "objects.json"
	// objectsFormat 2 records what the operation wrote. Format 1, without a number, did not.
	objectsFormat = 2
)

// object names one object in kube-system.
type object struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

func (o object) String() string { return o.Kind + " kube-system/" + o.Name }

const (
	configMap  = "ConfigMap"
	daemonSet  = "DaemonSet"
	deployment = "Deployment"
)

// phaseObjects are the objects that a phase writes and that can be restored. None of them is a
// Secret; Secrets are never read.
var phaseObjects = map[string][]object{
	PhaseUploadConfig: {{configMap, kubeadmConfig}, {configMap, "kubelet-config"}, patchRecord},
	PhaseAddon:        {{configMap, kubeProxy}, {configMap, coreDNS}, {daemonSet, kubeProxy}, {deployment, coreDNS}},
}

// patchRecord is about the values in kubeadm-config, so it stays if that stays.
var (
	patchRecord = object{configMap, configpatch.ConfigMap}
	follows     = map[object]object{patchRecord: {configMap, kubeadmConfig}}
)

// content is what a phase changes of an object.
type content struct {
	UID        types.UID             `json:"uid"`
	Generation int64                 `json:"generation,omitempty"`
	Data       map[string]string     `json:"data,omitempty"`
	DaemonSet  *appsv1.DaemonSetSpec `json:"daemonSet,omitempty"`
	// Without replicas, which the phases leave alone.
	Deployment *appsv1.DeploymentSpec `json:"deployment,omitempty"`
}

// holds reports whether two contents are the same. An API server of another version shows other
// defaults in a spec that nobody changed, so an equal generation is enough.
func (c *content) holds(other *content) bool {
	switch {
	case c == nil || other == nil:
		return c == other
	case c.UID == other.UID && c.Generation > 0 && c.Generation == other.Generation:
		return true
	}
	return equality.Semantic.DeepEqual(c.Data, other.Data) && equality.Semantic.DeepEqual(c.DaemonSet, other.DaemonSet) &&
		equality.Semantic.DeepEqual(c.Deployment, other.Deployment)
}

// objectRecord is what the operation has to do with one object.
type objectRecord struct {
	object `json:",inline"`

	// Before is what was there before the operation first wrote it, After what the operation wrote;
	// nil: nothing.
	Before *content `json:"before,omitempty"`
	After  *content `json:"after,omitempty"`
	// Open means that a write began and its end is not recorded.
	Open bool `json:"open,omitempty"`
}

// written reports whether an object is what the operation wrote, and differs from what was there
// before. foreign means that it was changed since.
func (r *objectRecord) written(now *content) (written, foreign bool) {
	switch {
	// Deleted since, created by the operation, or as it was.
	case now == nil, r.Before == nil, now.holds(r.Before):
		return false, false
	case r.Open:
		return true, false
	case r.After == nil, r.After.holds(r.Before):
		return false, false
	case now.holds(r.After):
		return true, false
	}
	return false, true
}

// objectRecords are all records of an operation, in a file.
type objectRecords struct {
	Format  int            `json:"format"`
	Objects []objectRecord `json:"objects"`

	path string
}

// loadObjects reads the records. Without a file there are none.
func loadObjects(dir string) (*objectRecords, error) {
	r := &objectRecords{path: filepath.Join(dir, objectsFile)}
	text, err := os.ReadFile(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		r.Format = objectsFormat
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, node.HostBroken("SavedObjectsBroken", err, "Check the disk of this host; compare the ConfigMaps of kube-system with "+r.path,
			"the saved objects of the cluster cannot be read")
	}
	if r.Format != objectsFormat {
		return nil, node.ManualIntervention("SavedTooOld", nil, "Install the refit-agent that ran this operation to finish it or roll it back",
			"the saved objects in %s have format %d, this refit-agent reads format %d", r.path, max(r.Format, 1), objectsFormat)
	}
	return r, nil
}

func (r *objectRecords) of(o object) *objectRecord {
	for i := range r.Objects {
		if r.Objects[i].object == o {
			return &r.Objects[i]
		}
	}
	r.Objects = append(r.Objects, objectRecord{object: o})
	return &r.Objects[len(r.Objects)-1]
}

func (r *objectRecords) store() error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := durable.MkdirAll(filepath.Dir(r.path), 0o700); err != nil {
		return err
	}
	return durable.WriteFile(r.path, text, 0o600)
}
