package observe

import (
	"context"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

const volumesPerPage = 500

// lasting are the kinds of volumes that no release takes away. All others were, or will be, moved to a CSI driver or dropped.
var lasting = map[string]bool{
	"configMap": true, "csi": true, "downwardAPI": true, "emptyDir": true, "ephemeral": true, "fc": true, "hostPath": true, "image": true,
	"iscsi": true, "local": true, "nfs": true, "persistentVolumeClaim": true, "projected": true, "secret": true,
}

func (g *gathering) readVolumes(ctx context.Context) error {
	return pages(ctx, list("persistentvolumes"), metav1.ListOptions{Limit: volumesPerPage}, g.client.CoreV1().PersistentVolumes().List,
		func(page *corev1.PersistentVolumeList) error {
			for i := range page.Items {
				g.addVolume(&page.Items[i])
			}
			return nil
		})
}

func (g *gathering) addVolume(v *corev1.PersistentVolume) {
	if kind := volumeKind(&v.Spec.PersistentVolumeSource); kind != "" && !lasting[kind] {
		g.snapshot.Volumes = append(g.snapshot.Volumes, cluster.Volume{Name: v.Name, Kind: kind})
	}
	if claim := v.Spec.ClaimRef; claim != nil && onOneNode(v) {
		g.local[claim.Namespace+"/"+claim.Name] = true
	}
}

// onOneNode says whether a volume lies on one node's disk, so that its pod cannot go elsewhere.
func onOneNode(v *corev1.PersistentVolume) bool {
	if v.Spec.Local != nil || v.Spec.HostPath != nil {
		return true
	}
	return v.Spec.NodeAffinity != nil && namesOneNode(v.Spec.NodeAffinity.Required)
}

// volumeKind is the name of the field that is set in a volume's source, such as awsElasticBlockStore. Read by reflection, it also knows
// the kinds that future releases bring.
func volumeKind(source any) string {
	value := reflect.ValueOf(source).Elem()
	for i := range value.NumField() {
		if field := value.Field(i); field.Kind() == reflect.Pointer && !field.IsNil() {
			name, _, _ := strings.Cut(value.Type().Field(i).Tag.Get("json"), ",")
			return name
		}
	}
	return ""
}
