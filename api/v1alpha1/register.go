package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of every object of this package.
var GroupVersion = schema.GroupVersion{Group: "refit.dev", Version: "v1alpha1"}

var schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

// AddToScheme makes the objects known to a scheme.
var AddToScheme = schemeBuilder.AddToScheme

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&ClusterUpgrade{}, &ClusterUpgradeList{},
		&NodeUpgrade{}, &NodeUpgradeList{},
		&NodeReport{}, &NodeReportList{},
		&ClusterRelease{}, &ClusterReleaseList{},
		&BackupStore{}, &BackupStoreList{},
		&EtcdBackup{}, &EtcdBackupList{},
		&Component{}, &ComponentList{},
		&ComponentUpgrade{}, &ComponentUpgradeList{},
		&UpgradeSchedule{}, &UpgradeScheduleList{},
		&MaintenanceWindow{}, &MaintenanceWindowList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
