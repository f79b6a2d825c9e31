package etcdbackup

import (
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestPins(t *testing.T) {
	pins := Pins{Recipients: []string{"age1a", "age1b"}, Locations: []string{"https://s3.example.com/backups", "/mnt/backups", "gs://bucket"}}
	s3 := func(endpoint, bucket string) *refitv1alpha1.S3Store {
		return &refitv1alpha1.S3Store{Endpoint: endpoint, Bucket: bucket}
	}
	for situation, tt := range map[string]struct {
		spec refitv1alpha1.BackupStoreSpec
		why  string
	}{
		"a pinned bucket":        {refitv1alpha1.BackupStoreSpec{S3: s3("https://s3.example.com", "backups"), Recipients: []string{"age1a"}}, ""},
		"another bucket":         {refitv1alpha1.BackupStoreSpec{S3: s3("https://s3.example.com", "mine"), Recipients: []string{"age1a"}}, "https://s3.example.com/mine"},
		"another server":         {refitv1alpha1.BackupStoreSpec{S3: s3("https://evil.example.com", "backups"), Recipients: []string{"age1a"}}, "evil"},
		"no TLS":                 {refitv1alpha1.BackupStoreSpec{S3: s3("http://s3.example.com", "backups"), Recipients: []string{"age1a"}}, "http://"},
		"a pinned path":          {refitv1alpha1.BackupStoreSpec{Path: &refitv1alpha1.PathStore{Directory: "/mnt/backups"}, Recipients: []string{"age1b"}}, ""},
		"a directory below it":   {refitv1alpha1.BackupStoreSpec{Path: &refitv1alpha1.PathStore{Directory: "/mnt/backups/x"}, Recipients: []string{"age1b"}}, "/mnt/backups/x"},
		"a pinned bucket of GCS": {refitv1alpha1.BackupStoreSpec{GCS: &refitv1alpha1.GCSStore{Bucket: "bucket"}, Recipients: []string{"age1b"}}, ""},
		"one recipient too many": {refitv1alpha1.BackupStoreSpec{GCS: &refitv1alpha1.GCSStore{Bucket: "bucket"}, Recipients: []string{"age1b", "age1c"}}, "age1c"},
		"no store":               {refitv1alpha1.BackupStoreSpec{Recipients: []string{"age1b"}}, "location"},
	} {
		err := pins.Check(&tt.spec)
		if (err == nil) != (tt.why == "") || err != nil && !strings.Contains(err.Error(), tt.why) {
			t.Errorf("%s: %v", situation, err)
		}
	}
}

// Credentials of one kind must not be sent to a server of another kind that was pinned.
func TestLocationsOfDifferentKindsDiffer(t *testing.T) {
	s3 := refitv1alpha1.BackupStoreSpec{S3: &refitv1alpha1.S3Store{Endpoint: "https://storage.example.com", Bucket: "b"}}
	gcs := refitv1alpha1.BackupStoreSpec{GCS: &refitv1alpha1.GCSStore{Endpoint: "https://storage.example.com", Bucket: "b"}}
	if Location(&s3) == Location(&gcs) {
		t.Errorf("both are %s", Location(&s3))
	}
}
