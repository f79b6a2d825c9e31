// Package crd judges the change of a CustomResourceDefinition before it is written: whether the API
// server refuses the new definition, refuses live objects under it, or drops fields of them. The
// judgement has no client: definitions and objects are passed in.
//
//  1. Compare the two definitions: removed versions, scope, names, conversion, storage version.
//  2. Probe the conversion webhook, if the caller passes a probe.
//  3. Check each live object in each version in which clients read and write it without a webhook:
//     prune, recording the paths; default; validate the schema, embedded objects, list types and
//     CEL rules. Updates prove nothing, since the API server ratchets: it accepts an invalid field
//     that a write leaves alone. So each check is that of a create.
//  4. Leave out what the old definition refuses or drops as well: the change does not cause it.
//
// A rollback is the same check with the definitions swapped. Fields of .status are exempt from
// dropped fields (see prune.go) and, with a status subresource, from refusals (see check.go):
// controllers write them again.
//
// Expand and Commit split a change of the storage version in two, so that the old controllers can
// still read what was written in between.
//
// An Actor has a client. It makes the changes, each of which can be killed at any write and
// repeated:
//
//  1. Save the live CRDs.
//  2. Expand: replace them, and wait until all API servers serve them.
//  3. Commit: change the storage version, have all objects written in it, trim storedVersions.
//
// To roll back:
//
//  1. Unflip: the reverse of Commit, while the new conversion webhook runs.
//  2. Restore: check all objects against the saved CRDs, then replace the live ones by them. Delete
//     CRDs that the upgrade has created, unless they have objects.
//
// No action overwrites a change of somebody else, and a rollback that would lose data writes
// nothing and names the objects and fields.
package crd
