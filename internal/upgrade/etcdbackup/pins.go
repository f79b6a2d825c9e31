package etcdbackup

import (
	"fmt"
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Pins are the recipients and the locations that a host allows. A BackupStore in the cluster can
// choose among them, and nothing else: otherwise its writer could decrypt every Secret.
type Pins struct {
	// Recipients are age public keys.
	Recipients []string `json:"recipients"`
	// Locations are buckets and directories, as Location returns them.
	Locations []string `json:"locations"`
}

// With returns the pins of both.
func (p Pins) With(more Pins) Pins {
	return Pins{Recipients: slices.Concat(p.Recipients, more.Recipients), Locations: slices.Concat(p.Locations, more.Locations)}
}

// Location returns the bucket or the directory of a store: https://s3.example.com/bucket,
// gs://bucket, gs+https://storage.example.com/bucket, or /mnt/backups. Stores of different kinds
// never share one: their credentials differ.
func Location(spec *refitv1alpha1.BackupStoreSpec) string {
	switch {
	case spec.S3 != nil:
		return strings.TrimSuffix(spec.S3.Endpoint, "/") + "/" + spec.S3.Bucket
	case spec.GCS != nil && spec.GCS.Endpoint != "":
		return "gs+" + strings.TrimSuffix(spec.GCS.Endpoint, "/") + "/" + spec.GCS.Bucket
	case spec.GCS != nil:
		return "gs://" + spec.GCS.Bucket
	case spec.Path != nil:
		return spec.Path.Directory
	}
	return ""
}

// Check returns an error that names what is not pinned.
func (p Pins) Check(spec *refitv1alpha1.BackupStoreSpec) error {
	if location := Location(spec); !slices.Contains(p.Locations, location) {
		return fmt.Errorf("the location %s is not pinned on this host", location)
	}
	for _, recipient := range spec.Recipients {
		if !slices.Contains(p.Recipients, recipient) {
			return fmt.Errorf("the recipient %s is not pinned on this host", recipient)
		}
	}
	return nil
}
