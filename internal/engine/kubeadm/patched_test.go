package kubeadm

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/yaml"

	"github.com/refit-dev/refit/internal/upgrade/configpatch"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

const (
	goawayChance = "apiServer.extraArgs.goaway-chance"
	apiQPS       = "scheduler.extraArgs.kube-api-qps"
	syncs        = "controllerManager.extraArgs.concurrent-deployment-syncs"
	auditAge     = "apiServer.extraArgs.audit-log-maxage"
)

// configured is a cluster whose last ClusterRelease has set two fields. Its owner has set another
// one, and has changed one of the two.
func configured(t *testing.T) *fake.Clientset {
	t.Helper()
	last, err := configpatch.Encode(configpatch.Values{goawayChance: {"0.001"}, apiQPS: {"100"}, auditAge: {"10"}})
	must(t, err)
	return fake.NewClientset(
		&corev1.ConfigMap{ObjectMeta: named(kubeadmConfig), Data: map[string]string{configKey: `apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: v1.35.4
apiServer:
  extraArgs:
  - {name: audit-log-maxage, value: "30"}
  - {name: goaway-chance, value: "0.001"}
  - {name: v, value: "4"}
scheduler:
  extraArgs:
  - {name: kube-api-qps, value: "100"}
`}},
		&corev1.ConfigMap{ObjectMeta: named("kubelet-config"), Data: map[string]string{"kubelet": "x"}},
		&corev1.ConfigMap{ObjectMeta: named(configpatch.ConfigMap), Data: last},
	)
}

// nextPatch changes a field, drops one, adds one, and has the one that was edited by hand.
var nextPatch = configpatch.Values{goawayChance: {"0.002"}, syncs: {"10"}, auditAge: {"10"}}

// wantFields are the fields of configured with nextPatch.
var wantFields = configpatch.Values{goawayChance: {"0.002"}, syncs: {"10"}, auditAge: {"30"}, "apiServer.extraArgs.v": {"4"}}

func patchedOf(t *testing.T, client *fake.Clientset, patch configpatch.Values) *Patched {
	t.Helper()
	stored, err := ReadStored(t.Context(), client)
	must(t, err)
	config, err := stored.Patch(patch)
	must(t, err)
	return config
}

func fieldsOf(t *testing.T, config *ClusterConfig) configpatch.Values {
	t.Helper()
	values, err := configpatch.Read(config.document)
	must(t, err)
	return values
}

// upload is the step upload-config, with a phase of kubeadm that changes only the version.
func upload(t *testing.T, client *fake.Clientset, dir string, config *Patched, write func(string, func() error) error) error {
	t.Helper()
	must(t, PrepareRecord(t.Context(), client))
	return TrackObjects(t.Context(), client, dir, PhaseUploadConfig, func() error {
		if _, err := config.Store(t.Context(), client, write); err != nil {
			return err
		}
		return write("kubeadm", func() error {
			return updateConfigMap(t.Context(), client, kubeadmConfig, func(data map[string]string) (map[string]string, error) {
				var document map[string]any
				err := yaml.Unmarshal([]byte(data[configKey]), &document)
				document["kubernetesVersion"] = "v1.36.3"
				text, _ := yaml.Marshal(document)
				return map[string]string{configKey: string(text)}, err
			})
		})
	})
}

func directly(_ string, change func() error) error { return change() }

// dataOf returns the data of all ConfigMaps of the cluster.
func dataOf(t *testing.T, client *fake.Clientset) map[string]map[string]string {
	t.Helper()
	all, err := client.CoreV1().ConfigMaps(metav1.NamespaceSystem).List(t.Context(), metav1.ListOptions{})
	must(t, err)
	out := map[string]map[string]string{}
	for i := range all.Items {
		if len(all.Items[i].Data) > 0 {
			out[all.Items[i].Name] = all.Items[i].Data
		}
	}
	return out
}

func TestAllNodesRenderTheSamePatchedConfiguration(t *testing.T) {
	client := configured(t)
	first := patchedOf(t, client, nextPatch)
	if got := fieldsOf(t, first.ClusterConfig); !reflect.DeepEqual(got, wantFields) {
		t.Errorf("the first node renders %v", got)
	}
	if _, kept := first.Kept[auditAge]; !kept || len(first.Kept) != 1 {
		t.Errorf("kept %v", first.Kept)
	}
	must(t, upload(t, client, t.TempDir(), first, directly))
	second := patchedOf(t, client, nextPatch)
	if got := fieldsOf(t, second.ClusterConfig); !reflect.DeepEqual(got, wantFields) || len(second.Changes) > 0 {
		t.Errorf("the second node renders %v", got)
	}
	if second.KubernetesVersion != "v1.36.3" {
		t.Errorf("the version is %s", second.KubernetesVersion)
	}
}

// The agent is killed before and after each write. It repeats the step, or rolls it back; or
// another node becomes the first.
func TestInterruptedUploadOfAPatch(t *testing.T) {
	var points []string
	must(t, upload(t, configured(t), t.TempDir(), patchedOf(t, configured(t), nextPatch), func(name string, change func() error) error {
		points = append(points, name+":before", name+":after")
		return change()
	}))
	if len(points) != 8 {
		t.Fatalf("the points are %q", points)
	}
	errKilled := errors.New("killed")
	for _, point := range points {
		t.Run(point, func(t *testing.T) {
			// A kill returns no error: the record stays open.
			killed := func(t *testing.T) (client *fake.Clientset, dir string, config *Patched) {
				t.Helper()
				client, dir = configured(t), t.TempDir()
				config = patchedOf(t, client, nextPatch)
				defer func() {
					if err, _ := recover().(error); !errors.Is(err, errKilled) {
						t.Fatalf("it was not killed: %v", err)
					}
				}()
				_ = upload(t, client, dir, config, func(name string, change func() error) error {
					if point == name+":before" {
						panic(errKilled)
					}
					err := change()
					if point == name+":after" {
						panic(errKilled)
					}
					return err
				})
				return client, dir, config
			}
			client, dir, config := killed(t)
			must(t, upload(t, client, dir, config, directly))
			want := configured(t)
			must(t, upload(t, want, t.TempDir(), patchedOf(t, want, nextPatch), directly))
			if got := dataOf(t, client); !reflect.DeepEqual(got, dataOf(t, want)) {
				t.Errorf("repeated: %v", got)
			}

			client, _, _ = killed(t)
			other := patchedOf(t, client, nextPatch)
			if got := fieldsOf(t, other.ClusterConfig); !reflect.DeepEqual(got, wantFields) {
				t.Errorf("another node renders %v", got)
			}

			client, dir, _ = killed(t)
			kept, err := RestoreObjects(t.Context(), client, dir, PhaseUploadConfig, nil)
			if got := dataOf(t, client); err != nil || len(kept) > 0 || !reflect.DeepEqual(got, dataOf(t, configured(t))) {
				t.Errorf("rolled back: %v, kept %q, %v", got, kept, err)
			}
		})
	}
}

// The record of a patch is about values in kubeadm-config: both are restored, or none.
func TestRollbackOfAPatchThatStays(t *testing.T) {
	for situation, c := range map[string]struct {
		relying []string
		edit    bool
		want    string
	}{
		"other nodes rely on it": {relying: []string{"cp-2"}, want: "other nodes rely on it"},
		"edited since":           {edit: true, want: "changed since"},
	} {
		t.Run(situation, func(t *testing.T) {
			client, dir := configured(t), t.TempDir()
			must(t, upload(t, client, dir, patchedOf(t, client, nextPatch), directly))
			if c.edit {
				must(t, updateConfigMap(t.Context(), client, kubeadmConfig, func(data map[string]string) (map[string]string, error) {
					return map[string]string{configKey: data[configKey] + "clusterName: other\n"}, nil
				}))
			}
			before := dataOf(t, client)
			for range 2 {
				_, reviewed, err := ReviewObjects(t.Context(), client, dir, PhaseUploadConfig, c.relying)
				must(t, err)
				kept, err := RestoreObjects(t.Context(), client, dir, PhaseUploadConfig, c.relying)
				must(t, err)
				if !reflect.DeepEqual(dataOf(t, client), before) {
					t.Errorf("got %v", dataOf(t, client))
				}
				if len(kept) != 1 || !strings.Contains(kept[0], c.want) || !reflect.DeepEqual(kept, reviewed) {
					t.Errorf("kept %q, reviewed %q", kept, reviewed)
				}
			}
		})
	}
}

func TestFirstPatchOfACluster(t *testing.T) {
	client, dir := configured(t), filepath.Join(t.TempDir(), "objects")
	must(t, client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Delete(t.Context(), configpatch.ConfigMap, metav1.DeleteOptions{}))
	before := dataOf(t, client)
	config := patchedOf(t, client, configpatch.Values{syncs: {"10"}, goawayChance: {"0.5"}})
	if _, kept := config.Kept[goawayChance]; !kept {
		t.Errorf("a value of the owner is replaced: %+v", config.Result)
	}
	must(t, upload(t, client, dir, config, directly))
	stored, err := ReadStored(t.Context(), client)
	if err != nil || !reflect.DeepEqual(stored.Last, configpatch.Values{syncs: {"10"}}) {
		t.Errorf("recorded %v, %v", stored.Last, err)
	}
	if kept, err := RestoreObjects(t.Context(), client, dir, PhaseUploadConfig, nil); err != nil || len(kept) > 0 || !reflect.DeepEqual(dataOf(t, client), before) {
		t.Errorf("rolled back: %v, kept %q, %v", dataOf(t, client), kept, err)
	}
}

func TestClusterWithoutPatchesIsNotWritten(t *testing.T) {
	client := configured(t)
	must(t, client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Delete(t.Context(), configpatch.ConfigMap, metav1.DeleteOptions{}))
	config := patchedOf(t, client, nil)
	client.ClearActions()
	_, err := config.Store(t.Context(), client, func(name string, _ func() error) error { return fmt.Errorf("%s is written", name) })
	if err != nil || config.Records() || len(client.Actions()) > 0 {
		t.Errorf("error %v, requests %v", err, client.Actions())
	}
}

func TestExternalEtcdIgnoresItsPatch(t *testing.T) {
	stored := Stored{Config: map[string]string{configKey: "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\netcd:\n  external: {endpoints: [https://etcd]}\n"}}
	config, err := stored.Patch(configpatch.Values{"etcd.local.extraArgs.metrics": {"basic"}})
	if err != nil || len(config.Changes) > 0 || !config.ExternalEtcd {
		t.Errorf("got %+v, %v", config, err)
	}
}

func TestConfigurationThatCannotBePatched(t *testing.T) {
	const head = "apiVersion: kubeadm.k8s.io/v1beta3\nkind: ClusterConfiguration\n"
	for text, patch := range map[string]configpatch.Values{
		head + "apiServer: {extraArgs: 1}\n": {goawayChance: {"1"}},
		head:                                 {goawayChance: {"1", "2"}},
	} {
		_, err := Stored{Config: map[string]string{configKey: text}}.Patch(patch)
		if f, ok := errors.AsType[*node.Failure](err); !ok || f.Reason != "KubeadmConfigBroken" {
			t.Errorf("error %v", err)
		}
	}
	client := configured(t)
	must(t, updateConfigMap(t.Context(), client, configpatch.ConfigMap, func(map[string]string) (map[string]string, error) {
		return map[string]string{"patch.json": `{"format": 9}`}, nil
	}))
	_, err := ReadStored(t.Context(), client)
	if f, ok := errors.AsType[*node.Failure](err); !ok || f.Reason != "PatchRecordBroken" {
		t.Errorf("error %v", err)
	}
}

func TestConflictingWriteOfAPatchIsRepeated(t *testing.T) {
	client, conflicts := configured(t), 0
	client.PrependReactor("update", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		conflicts++
		return conflicts == 1, nil, apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, kubeadmConfig, nil)
	})
	must(t, upload(t, client, t.TempDir(), patchedOf(t, client, nextPatch), directly))
	if got := fieldsOf(t, patchedOf(t, client, nextPatch).ClusterConfig); !reflect.DeepEqual(got, wantFields) || conflicts < 2 {
		t.Errorf("got %v after %d writes", got, conflicts)
	}
}
