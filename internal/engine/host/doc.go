// Package host changes the files and services of a host and runs its binaries. A kill or a power
// cut at any instant leaves either the old file or the new one, complete. All changes are
// idempotent.
//
// Names that begin with a dot and end with .refit-tmp, .refit-new, .refit-old or .refit-moved
// belong to this package.
package host
