// Package journald reads the journal files of systemd without journalctl, which the image of the
// agent does not have, and without locks: journald may write to the file meanwhile.
//
//  1. The header has the time of the first and the last entry, and what else a reader must support.
//  2. Entry arrays list the offsets of entries, entries those of their fields.
//  3. A field is read once: entries of a unit share the field with its name.
//
// A file may be damaged, since a crash is what is to be explained. Every offset and size is checked
// against the file, chains only lead forward, and what cannot be read is counted.
//
// The format is documented at https://systemd.io/JOURNAL_FILE_FORMAT.
package journald
