// Package host touches what is the host's own: its files, its services, its programs. Files are replaced so that a kill or a power cut at any instant leaves
// the old one or the new one, whole; what is done is done once, however often it is asked for.
//
// Names that begin with a dot and end with .refit-tmp, .refit-new or .refit-old, beside a file, belong to this package.
package host
