// Package backup stores, verifies, lists and prunes backups: it composes seal and a store.
//
// Store proceeds in this order, and a store that loses data is noticed at each step:
//
//  1. Refuse an attempt that has objects already.
//  2. Upload each part while its source writes it, compressed and encrypted; then read it back and
//     compare it with what was sent, while the source checks what it has kept.
//  3. Upload the manifest, and read it back.
//
// After an error it deletes the objects of the attempt. Prune deletes the manifest first, so that a
// partly deleted backup is never complete.
package backup
