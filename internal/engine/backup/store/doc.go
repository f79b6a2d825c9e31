// Package store reads and writes objects in the stores of backups: a mounted path, S3 and Google
// Cloud Storage. It knows neither backups nor encryption.
//
// Every call is bounded: it ends when its context ends, and when the store makes no progress for a
// stall timeout. Errors have a class of package backup, and contain no credentials.
package store
