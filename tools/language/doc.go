// Command language counts phrases that Refit does not use in its docs, CLI output, CRDs and Go
// files. phrases.yaml lists the phrases, their replacements, the allowed uses and the limit of
// each area. The command exits with 1 when an area exceeds its limit.
//
//	go run ./tools/language             # print the counts
//	go run ./tools/language -v          # list each use with its file and line
//	go run ./tools/language -vale FILE  # write the Vale rule that holds the same phrases
package main
