package backup

import (
	"errors"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	enginebackup "github.com/refit-dev/refit/internal/engine/backup"
	"github.com/refit-dev/refit/internal/engine/backup/store"
)

// OpenStore opens the store of a BackupStore. It sends no request.
func OpenStore(spec *refitv1alpha1.BackupStoreSpec, credentials Credentials) (enginebackup.Objects, error) {
	switch {
	case spec.Path != nil:
		return store.OpenPath(spec.Path.Directory)
	case spec.S3 != nil:
		return store.OpenS3(store.S3Settings{
			Endpoint: spec.S3.Endpoint, Bucket: spec.S3.Bucket, Region: spec.S3.Region, PathStyle: spec.S3.PathStyle,
			AccessKey: credentials[KeyAccessKey], SecretKey: credentials[KeySecretKey], SessionToken: credentials[KeySessionToken],
			CA: []byte(credentials[KeyCA]),
		})
	case spec.GCS != nil:
		return store.OpenGCS(store.GCSSettings{
			Endpoint: spec.GCS.Endpoint, Bucket: spec.GCS.Bucket, ServiceAccount: []byte(credentials[KeyServiceAccount]), CA: []byte(credentials[KeyCA]),
		})
	}
	return nil, errors.New("the BackupStore has neither s3 nor path nor gcs")
}
