package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BackupStore is where backups of etcd are stored, and who can decrypt them. A backup contains
// every Secret and every private key of the cluster, so creating, changing and deleting a
// BackupStore requires the verb approve, and an agent uses only recipients and addresses that are
// pinned on its host.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=bst,categories=refit
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63",message="a name may have at most 63 characters"
// +kubebuilder:printcolumn:name="S3",type=string,JSONPath=`.spec.s3.bucket`
// +kubebuilder:printcolumn:name="GCS",type=string,JSONPath=`.spec.gcs.bucket`
// +kubebuilder:printcolumn:name="Path",type=string,JSONPath=`.spec.path.directory`
// +kubebuilder:printcolumn:name="IdentityProven",type=string,JSONPath=`.status.conditions[?(@.type=="IdentityProven")].status`
// +kubebuilder:printcolumn:name="Keep",type=integer,JSONPath=`.spec.keep.last`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Endpoint",type=string,JSONPath=`.spec.s3.endpoint`,priority=1
// +kubebuilder:printcolumn:name="Prefix",type=string,JSONPath=`.spec.prefix`,priority=1
type BackupStore struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the store and its recipients.
	// +required
	Spec BackupStoreSpec `json:"spec"`
	// status is what was proven about the store. Writing it requires the verb approve.
	// +optional
	Status BackupStoreStatus `json:"status,omitzero"`
}

// BackupStoreList is a list of BackupStores.
//
// +kubebuilder:object:root=true
type BackupStoreList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []BackupStore `json:"items"`
}

// BackupStoreSpec is a store and its recipients.
//
// +kubebuilder:validation:XValidation:rule="[has(self.s3), has(self.path), has(self.gcs)].filter(set, set).size() == 1",message="exactly one of s3, path and gcs must be set"
// +kubebuilder:validation:XValidation:rule="has(self.path) != has(self.credentials)",message="s3 and gcs need credentials; path has none"
type BackupStoreSpec struct {
	// s3 is a bucket of an object store with the API of S3.
	// +optional
	// +structType=atomic
	S3 *S3Store `json:"s3,omitempty"`
	// path is a directory that is mounted on control plane hosts.
	// +optional
	// +structType=atomic
	Path *PathStore `json:"path,omitempty"`
	// gcs is a bucket of Google Cloud Storage.
	// +optional
	// +structType=atomic
	GCS *GCSStore `json:"gcs,omitempty"`
	// prefix is the prefix of all objects of this store, without slashes at its ends. Clusters that
	// share a bucket or a directory need different ones.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*$`
	Prefix string `json:"prefix,omitempty"`
	// credentials is the name of the credentials: the file /etc/refit/backup/NAME on control
	// plane hosts or, without one, a Secret of type refit.dev/backup-credentials in the namespace
	// refit-backup.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Credentials string `json:"credentials,omitempty"`
	// recipients are the age public keys that backups are encrypted to. Each of their identities
	// can decrypt every backup.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=62
	// +kubebuilder:validation:items:Pattern=`^age1[02-9ac-hj-np-z]{58}$`
	Recipients []string `json:"recipients,omitempty"`
	// keep is how long backups are kept. Without it, Refit deletes none.
	// +optional
	// +structType=atomic
	Keep *BackupRetention `json:"keep,omitempty"`
}

// BackupStoreStatus is what was proven about a store.
type BackupStoreStatus struct {
	// proven is the last verification of a backup with an identity.
	// +optional
	// +structType=atomic
	Proven *ProvenIdentity `json:"proven,omitempty"`
	// conditions has IdentityProven. It is True if an identity of a recipient has decrypted a
	// backup. No controller writes it: it is about the generation in observedGeneration, and
	// clients compare proven.recipients with spec.recipients.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=1
	// +kubebuilder:validation:XValidation:rule="self.all(c, c.type.size() <= 32 && c.reason.size() <= 64 && c.message.size() <= 512 && c.lastTransitionTime > timestamp('2000-01-01T00:00:00Z'))",message="a condition's type may have at most 32 characters, its reason 64 and its message 512, and its time must be set"
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ProvenIdentity is a verification of a backup with an identity.
type ProvenIdentity struct {
	// recipients are the recipients of the store whose identities have decrypted a backup.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=62
	// +kubebuilder:validation:items:Pattern=`^age1[02-9ac-hj-np-z]{58}$`
	Recipients []string `json:"recipients,omitempty"`
	// backup is the name of the EtcdBackup that was decrypted last.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Backup string `json:"backup,omitempty"`
	// time is when it was decrypted.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	Time metav1.Time `json:"time,omitzero"`
}

// S3Store is a bucket of an object store with the API of S3.
type S3Store struct {
	// endpoint is the address of the object store.
	// +required
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^https?://[A-Za-z0-9.:\[\]-]+$`
	Endpoint string `json:"endpoint,omitempty"`
	// bucket is the name of the bucket, which must exist.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`
	Bucket string `json:"bucket,omitempty"`
	// region is the region of the bucket.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9-]+$`
	Region string `json:"region,omitempty"`
	// pathStyle puts the bucket into the path of an address instead of its host name, as most
	// object stores other than that of AWS need it.
	// +optional
	PathStyle bool `json:"pathStyle,omitempty"`
}

// PathStore is a directory that is mounted on control plane hosts.
type PathStore struct {
	// directory is the absolute path of the directory, which must exist.
	// +required
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^(/[A-Za-z0-9_][A-Za-z0-9._-]*)+$`
	Directory string `json:"directory,omitempty"`
}

// GCSStore is a bucket of Google Cloud Storage.
type GCSStore struct {
	// bucket is the name of the bucket, which must exist.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$`
	Bucket string `json:"bucket,omitempty"`
	// endpoint is the address of the service, if it is not the public one.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^https?://[A-Za-z0-9.:\[\]-]+$`
	Endpoint string `json:"endpoint,omitempty"`
}

// BackupRetention is how long backups are kept. Refit deletes a backup that neither field keeps,
// after a later backup has succeeded, and never the last good one.
//
// +kubebuilder:validation:XValidation:rule="has(self.last) || has(self.age)",message="last or age must be set"
type BackupRetention struct {
	// last is the number of backups that are kept, whatever their age.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	Last int32 `json:"last,omitempty"`
	// age is how long every backup is kept, whatever their number.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s') && duration(self) <= duration('87600h')",message="must be longer than 0s and at most 87600h"
	Age metav1.Duration `json:"age,omitzero"`
}

// The credentials of a BackupStore in the cluster. Agents read no other Secret.
const (
	// BackupNamespace is the namespace of the Secrets with credentials of BackupStores.
	BackupNamespace = "refit-backup"
	// BackupCredentialsType is the type of these Secrets.
	BackupCredentialsType = "refit.dev/backup-credentials" //nolint:gosec // the type of a Secret
)
