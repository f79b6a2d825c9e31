// Package seal writes and reads the parts of a backup, as streams:
//
//	plain bytes → hash → zstd → age → hash → stored bytes
//
// The encrypted text begins with a backup.Header, so that a part cannot stand in for another one.
// The reader reverses this and verifies sizes and digests on both sides. Its memory is bounded,
// whatever is stored. Nothing of a plain text, an identity or a secret is in an error.
package seal
