// Package crd judges the change of a CustomResourceDefinition before it is written: whether the API
// server refuses the new definition, refuses live objects under it, or drops fields of them. It has
// no client: definitions and objects are passed in.
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
package crd
