package store

import (
	"errors"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Open opens the store of a BackupStore. It sends no request.
func Open(spec *refitv1alpha1.BackupStoreSpec, credentials Credentials) (Objects, error) {
	switch {
	case spec.Path != nil:
		return OpenPath(spec.Path.Directory)
	case spec.S3 != nil:
		return OpenS3(S3Settings{
			Endpoint: spec.S3.Endpoint, Bucket: spec.S3.Bucket, Region: spec.S3.Region, PathStyle: spec.S3.PathStyle,
			AccessKey: credentials[KeyAccessKey], SecretKey: credentials[KeySecretKey], SessionToken: credentials[KeySessionToken],
			CA: []byte(credentials[KeyCA]),
		})
	case spec.GCS != nil:
		return OpenGCS(GCSSettings{
			Endpoint: spec.GCS.Endpoint, Bucket: spec.GCS.Bucket, ServiceAccount: []byte(credentials[KeyServiceAccount]), CA: []byte(credentials[KeyCA]),
		})
	}
	return nil, errors.New("the BackupStore has neither s3 nor path nor gcs")
}
