package kubeadm

import (
	"context"
	"errors"
	"maps"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/yaml"

	"github.com/refit-dev/refit/internal/upgrade/configpatch"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

const (
	kubeadmConfig = "kubeadm-config"
	configKey     = "ClusterConfiguration"
	fieldManager  = "refit-agent"
)

// Stored is what the cluster stores about its configuration: the data of the ConfigMap
// kubeadm-config, and the patch of the last ClusterRelease. kubeadm replaces its ConfigMap as a
// whole, with the annotations, so the patch is in another one.
type Stored struct {
	Config map[string]string
	Last   configpatch.Values
}

// ReadStored reads what the cluster stores about its configuration.
func ReadStored(ctx context.Context, client kubernetes.Interface) (Stored, error) {
	all := client.CoreV1().ConfigMaps(metav1.NamespaceSystem)
	config, err := all.Get(ctx, kubeadmConfig, metav1.GetOptions{})
	if err != nil {
		return Stored{}, unreadable(err, kubeadmConfig)
	}
	last, err := all.Get(ctx, configpatch.ConfigMap, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return Stored{Config: config.Data}, nil
	}
	if err != nil {
		return Stored{}, unreadable(err, configpatch.ConfigMap)
	}
	values, err := configpatch.Decode(last.Data)
	if err != nil {
		return Stored{}, node.ManualIntervention("PatchRecordBroken", err,
			"Delete it, so that all its fields become yours: `kubectl -n kube-system delete configmap "+configpatch.ConfigMap+"`"+thenRetry,
			"cannot parse the ConfigMap %s", configpatch.ConfigMap)
	}
	return Stored{config.Data, values}, nil
}

func unreadable(err error, name string) error {
	return node.Transient("APIUnreachable", err, "Check that an API server is reachable"+thenRetry, "cannot read the ConfigMap %s", name)
}

// Patched is a ClusterConfiguration with the patch of a ClusterRelease.
type Patched struct {
	*ClusterConfig
	configpatch.Result

	last configpatch.Values
}

// Patch merges the patch of a ClusterRelease into the stored configuration. The result depends on
// nothing else, so it is the same after a restart.
func (s Stored) Patch(patch configpatch.Values) (*Patched, error) {
	out, err := s.Unpatched()
	if err != nil || len(patch) == 0 && len(s.Last) == 0 {
		return out, err
	}
	live, err := configpatch.Read(out.document)
	if err != nil {
		return nil, brokenConfig(err)
	}
	if out.ExternalEtcd {
		patch = patch.WithoutEtcd()
	}
	out.Result = configpatch.Merge(live, s.Last, patch)
	data, err := changed(s.Config, out.Changes)
	if err != nil {
		return nil, err
	}
	out.ClusterConfig, err = ReadClusterConfig(data)
	return out, err
}

// Unpatched returns the stored configuration as it is.
func (s Stored) Unpatched() (*Patched, error) {
	config, err := ReadClusterConfig(s.Config)
	if err != nil {
		return nil, err
	}
	return &Patched{ClusterConfig: config, last: s.Last}, nil
}

func brokenConfig(err error) error {
	return node.ManualIntervention("KubeadmConfigBroken", err, "Fix it: "+editConfig+thenRetry,
		"cannot patch the ClusterConfiguration in the ConfigMap kubeadm-config")
}

// changed returns the data of the ConfigMap kubeadm-config with changes.
func changed(data map[string]string, changes []configpatch.Change) (map[string]string, error) {
	if len(changes) == 0 {
		return data, nil
	}
	var document map[string]any
	if err := yaml.Unmarshal([]byte(data[configKey]), &document); err != nil {
		return nil, brokenConfig(err)
	}
	document, err := configpatch.Write(document, changes)
	if err != nil {
		return nil, brokenConfig(err)
	}
	text, err := yaml.Marshal(document)
	if err != nil {
		return nil, err
	}
	out := maps.Clone(data)
	out[configKey] = string(text)
	return out, nil
}

// Records reports whether the cluster stores a patch, or will.
func (p *Patched) Records() bool { return len(p.last) > 0 || len(p.Applied) > 0 }

// PrepareRecord creates the empty record of a patch. A rollback can restore it then, but not one
// that the operation created.
func PrepareRecord(ctx context.Context, client kubernetes.Interface) error {
	_, err := client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: configpatch.ConfigMap, Namespace: metav1.NamespaceSystem},
	}, metav1.CreateOptions{FieldManager: fieldManager})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return apiFailure(err, "cannot create the ConfigMap %s", configpatch.ConfigMap)
	}
	return nil
}

// Store writes the patched configuration and its record. write wraps each write, so that it can be
// interrupted before and after it: an interrupted Store is repeated, and a merge by another node
// leads to the same configuration. It returns the fields that were edited since the merge.
func (p *Patched) Store(
	ctx context.Context, client kubernetes.Interface, write func(name string, change func() error) error,
) (edited configpatch.Values, err error) {
	if !p.Records() {
		return nil, nil
	}
	var rest configpatch.Result
	for _, step := range []struct {
		name string
		run  func() error
	}{
		{"record-patch", func() error { return storeRecord(ctx, client, p.Intent(p.last)) }},
		{"patch-configuration", func() (err error) { rest, err = p.storeConfig(ctx, client); return err }},
		{"record-configuration", func() error { return storeRecord(ctx, client, rest.Applied) }},
	} {
		if err := write(step.name, step.run); err != nil {
			return nil, err
		}
	}
	maps.DeleteFunc(rest.Kept, func(f configpatch.Field, _ []string) bool { return p.Kept[f] != nil })
	return rest.Kept, nil
}

// storeConfig applies the changes to the configuration as it is now.
func (p *Patched) storeConfig(ctx context.Context, client kubernetes.Interface) (rest configpatch.Result, err error) {
	err = updateConfigMap(ctx, client, kubeadmConfig, func(data map[string]string) (map[string]string, error) {
		now, err := ReadClusterConfig(data)
		if err != nil {
			return nil, err
		}
		live, err := configpatch.Read(now.document)
		if err != nil {
			return nil, brokenConfig(err)
		}
		rest = p.On(live)
		return changed(data, rest.Changes)
	})
	return rest, err
}

func storeRecord(ctx context.Context, client kubernetes.Interface, values configpatch.Values) error {
	return updateConfigMap(ctx, client, configpatch.ConfigMap, func(map[string]string) (map[string]string, error) {
		return configpatch.Encode(values)
	})
}

// updateConfigMap changes the data of a ConfigMap, unless they stay the same. It never overwrites
// what another writer has changed meanwhile.
func updateConfigMap(ctx context.Context, client kubernetes.Interface, name string, change func(map[string]string) (map[string]string, error)) error {
	all := client.CoreV1().ConfigMaps(metav1.NamespaceSystem)
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		now, err := all.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		next := now.DeepCopy()
		if next.Data, err = change(now.Data); err != nil || reflect.DeepEqual(next.Data, now.Data) {
			return err
		}
		_, err = all.Update(ctx, next, metav1.UpdateOptions{FieldManager: fieldManager})
		return err
	})
	if _, classified := errors.AsType[*node.Failure](err); err == nil || classified {
		return err
	}
	return apiFailure(err, "cannot write the ConfigMap %s", name)
}
