// Package archive writes and reads the file of a support bundle: a compressed tar archive whose
// last file is the index. Nothing is written to it that was not redacted before.
//
// A host without another way out prints the archive to the log of its Pod, as lines of base64 with
// a digest at the end, so that a log that was cut is noticed.
package archive
