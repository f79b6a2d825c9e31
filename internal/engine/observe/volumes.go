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

// supportedVolumes are the volume types that no release removes. All others were or will be
// migrated to CSI drivers or removed.
var supportedVolumes = map[string]bool{
	"configMap": true, "csi": true, "downwardAPI": true, "emptyDir": true, "ephemeral": true, "fc": true, "hostPath": true, "image": true,
	"iscsi": true, "local": true, "nfs": true, "persistentVolumeClaim": true, "projected": true, "secret": true,
}

func (obs *observation) readVolumes(ctx context.Context) error {
	return pages(ctx, list("persistentvolumes"), metav1.ListOptions{Limit: volumesPerPage}, obs.client.CoreV1().PersistentVolumes().List,
		func(page *corev1.PersistentVolumeList) error {
			for i := range page.Items {
				obs.addVolume(&page.Items[i])
			}
			return nil
		})
}

func (obs *observation) addVolume(v *corev1.PersistentVolume) {
	if kind := volumeKind(&v.Spec.PersistentVolumeSource); kind != "" && !supportedVolumes[kind] {
		obs.snapshot.Volumes = append(obs.snapshot.Volumes, cluster.Volume{Name: v.Name, Kind: kind})
	}
	if claim := v.Spec.ClaimRef; claim != nil && onOneNode(v) {
		obs.local[claim.Namespace+"/"+claim.Name] = true
	}
}

// onOneNode reports whether a volume is on the disk of one node, so that its pod cannot move.
func onOneNode(v *corev1.PersistentVolume) bool {
	if v.Spec.Local != nil || v.Spec.HostPath != nil {
		return true
	}
	return v.Spec.NodeAffinity != nil && namesOneNode(v.Spec.NodeAffinity.Required)
}

// volumeKind returns the name of the field that is set in a volume source, such as
// awsElasticBlockStore. It uses reflection, so that it supports future volume types.
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
